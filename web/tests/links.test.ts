import { describe, expect, it } from "vitest";
import { nextPath, signInPath } from "@/features/auth/nextPath";
import { decode, pagePath, slugIdOf, titleSlug } from "@/features/pages/pageUrl";
import { classifyLink, ownImage } from "@/shared/lib/links";

const ORIGIN = "https://wiki.example.org";

describe("links in someone's text", () => {
  it.each([
    ["/s/a/p/b-1#x", { kind: "internal", to: "/s/a/p/b-1#x" }],
    ["https://wiki.example.org/s/a?q=1", { kind: "internal", to: "/s/a?q=1" }],
    ["#block", { kind: "hash", hash: "#block" }],
    ["https://opm.example.com/x", { kind: "external", href: "https://opm.example.com/x", host: "opm.example.com" }],
    ["mailto:a@example.org", { kind: "mail", href: "mailto:a@example.org" }],
    ["tel:+1555", { kind: "mail", href: "tel:+1555" }],
  ])("%s is followed", (href, expected) => {
    expect(classifyLink(href, ORIGIN)).toEqual(expected);
  });

  it.each([
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    " javascript:alert(1)",
    "java\nscript:alert(1)",
    "data:text/html,x",
    "vbscript:x",
    "file:///etc/passwd",
    "blob:https://wiki.example.org/1",
    "relative/page.md",
    "//evil.example.net/x",
    "/\\evil.example.net/x",
    "https://",
    "",
    null,
    undefined,
    `https://a.example/${"x".repeat(3000)}`,
  ])("%s is no link", (href) => {
    expect(classifyLink(href, ORIGIN)).toEqual({ kind: "unsafe" });
  });

  it("takes images from the own origin only", () => {
    expect(ownImage("/v1/attachments/1", ORIGIN)).toBe("/v1/attachments/1");
    expect(ownImage("https://wiki.example.org/a.png", ORIGIN)).toBe("/a.png");
    const others = [
      "https://t.example.net/a.png",
      "//t.example.net/a",
      "data:image/png;base64,x",
      "/v1/ai/chats",
      "/x/../v1/auth/me",
      "/%76%31%2Fauth/me",
    ];
    for (const src of others) {
      expect(ownImage(src, ORIGIN)).toBeNull();
    }
  });
});

describe("addresses of pages", () => {
  it("are readable and end in the page's own id", () => {
    const page = { title: "Annual leave & travel!", slugId: "Ab12" };
    expect(pagePath("handbook", page)).toBe("/s/handbook/p/annual-leave-travel-Ab12");
    expect(slugIdOf("annual-leave-travel-Ab12")).toBe("Ab12");
  });

  it("have no readable part when the title has no letters", () => {
    expect(pagePath("s", { title: "🎉🎉", slugId: "Ab12" })).toBe("/s/s/p/Ab12");
    expect(slugIdOf("Ab12")).toBe("Ab12");
  });

  it("keep letters of every script and never cut one in half", () => {
    expect(titleSlug("Отпуск и поездки")).toBe("отпуск-и-поездки");
    const path = pagePath("s", { title: "𠀀".repeat(80), slugId: "x" });
    expect(decode(path)).toBe(`/s/s/p/${"𠀀".repeat(60)}-x`);
  });

  it("are taken from the server where it spells them", () => {
    const url = "/s/handbook/p/leave-Ab12";
    expect(pagePath("other", { title: "Renamed", slugId: "Ab12", url })).toBe(url);
  });

  it("survive a broken percent sign", () => {
    expect(decode("100%-sure")).toBe("100%-sure");
  });
});

describe("the way back after signing in", () => {
  it("leads to the path that was asked for", () => {
    const from = { pathname: "/s/a/p/b-1", search: "?edit=", hash: "#x" };
    expect(nextPath(new URL(signInPath(from), ORIGIN).search)).toBe("/s/a/p/b-1?edit=#x");
  });

  it.each(["//evil.example.net", "/\\evil.example.net", "https://evil.example.net", "/sign-in?token=1", ""])(
    "never leads to %s",
    (next) => {
      expect(nextPath(`?next=${encodeURIComponent(next)}`)).toBe("/");
    },
  );
});
