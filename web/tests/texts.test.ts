import { describe, expect, it } from "vitest";
import { initials } from "@/features/auth/components/UserMenu";
import { headingText } from "@/features/search/headings";
import { withQuery } from "@/shared/api/client";
import { diffLines } from "@/shared/lib/diffLines";
import { highlight } from "@/shared/lib/highlight";
import { randomId } from "@/shared/lib/randomId";

describe("two versions of a text", () => {
  const changed = (lines: { text: string; changed: boolean }[]) =>
    lines.filter((line) => line.changed).map((line) => line.text);

  it("differ in the lines that only one of them has", () => {
    const { left, right } = diffLines("a\nb\nc\nd", "a\nx\nc\ny\nd");
    expect(changed(left)).toEqual(["b"]);
    expect(changed(right)).toEqual(["x", "y"]);
    expect(left.map((line) => line.text).join("\n")).toBe("a\nb\nc\nd");
  });

  it("differ nowhere when they are equal, everywhere when nothing is shared", () => {
    expect(changed(diffLines("a\nb", "a\nb").left)).toEqual([]);
    expect(changed(diffLines("a\nb", "c").left)).toEqual(["a", "b"]);
    expect(changed(diffLines("a\na", "a").left)).toEqual(["a"]);
  });
});

describe("small texts", () => {
  it("leave empty parameters out of an address", () => {
    const query = { q: "a b&c", cursor: null, limit: 10, empty: "" };
    expect(withQuery("/v1/x", query)).toBe("/v1/x?q=a+b%26c&limit=10");
    expect(withQuery("/v1/x")).toBe("/v1/x");
  });

  it("give a person initials", () => {
    expect(initials("Ada Lovelace")).toBe("AL");
    expect(initials("ada@example.org")).toBe("AE");
    expect(initials("Ёж")).toBe("Ё");
  });

  it("name the headings over a hit without repeating its title", () => {
    expect(headingText({ title: "Leave", headingPath: ["Leave", "Limits"] })).toBe("Limits");
    expect(headingText({ title: "Leave", headingPath: [] })).toBe("");
  });

  it("identify a chat by a version 4 UUID", () => {
    expect(randomId()).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    expect(randomId()).not.toBe(randomId());
  });
});

describe("coloured code (UI-09)", () => {
  it("loses no character", async () => {
    const code = 'def f():\n    return "<b>"  # note\n';
    const tokens = await highlight(code, "python");
    expect(tokens?.map((token) => token.text).join("")).toBe(code);
    expect(tokens?.some((token) => token.className?.includes("hljs-keyword"))).toBe(true);
  });

  it("stays plain in a language that is not known", async () => {
    expect(await highlight("x", "no-such-language")).toBeNull();
  });
});
