import { Profiler } from "react";
import { describe, expect, it } from "vitest";
import { markdownBlocks } from "@/shared/lib/markdownBlocks";
import { Markdown } from "@/shared/ui/Markdown";
import { show } from "./render";

describe("Markdown of a model or a page (UI-05)", () => {
  it("runs no script, makes no link of a dangerous scheme and fetches nothing", () => {
    const { container } = show(
      <Markdown
        text={[
          "<script>alert(1)</script>",
          "text <img src=x onerror=alert(1)> <iframe src=//e></iframe>",
          "[bad](javascript:alert(1)) [data](data:text/html,x)",
          "![pixel](https://t.example.net/a.png)",
          "[ref]",
          "",
          "[ref]: javascript:alert(1)",
        ].join("\n\n")}
      />,
    );
    expect(container.querySelectorAll("script, img, iframe, a")).toHaveLength(0);
    expect(container.textContent).toContain("<script>alert(1)</script>");
    expect(container.textContent).toContain("t.example.net");
  });

  it("shows the host of a link that leads outside", () => {
    const { container } = show(<Markdown text="[sheet](https://opm.example.com/x)" />);
    expect(container.querySelector("a")?.getAttribute("rel")).toContain("noopener");
    expect(container.textContent).toBe("sheet (opm.example.com)");
  });

  it("renders tables, task lists and code", () => {
    const { container } = show(
      <Markdown text={"| a |\n|---|\n| 1 |\n\n- [x] done\n\n```py\nx = 1\n```"} />,
    );
    expect(container.querySelector("td")?.textContent).toBe("1");
    expect(container.querySelector<HTMLInputElement>("input")?.checked).toBe(true);
    expect(container.querySelector("pre code")?.textContent).toBe("x = 1");
  });
});

describe("cutting Markdown into blocks", () => {
  it("loses nothing but blank lines", () => {
    const text = "# One\n\ntwo\nlines\n\n\n> three\n\n| a |\n|---|\n| 1 |\n";
    const joined = markdownBlocks(text).join("\n").replace(/\n+/g, "\n");
    expect(joined).toBe(text.replace(/\n+/g, "\n"));
  });

  it("keeps a fence, a loose list and an indented block whole", () => {
    expect(markdownBlocks("```\na\n\nb\n```\n\nafter")).toEqual(["```\na\n\nb\n```\n", "after"]);
    expect(markdownBlocks("1. a\n\n2. b\n\n   more\n\nafter")).toHaveLength(2);
    expect(markdownBlocks("~~~\n```\n\nx\n~~~\n\nafter")).toHaveLength(2);
  });

  it("keeps earlier blocks as they were while text is added", () => {
    const full = Array.from({ length: 50 }, (_, index) => `Paragraph ${index} **bold**.`).join("\n\n");
    const before = markdownBlocks(full.slice(0, 700));
    const after = markdownBlocks(full);
    expect(after.slice(0, before.length - 1)).toEqual(before.slice(0, -1));
  });

  it("gives a reference its definition, wherever that stands", () => {
    const pieces = markdownBlocks("See [a].\n\nb\n\n[a]: /x").map((piece) => piece.split(/\n+/));
    expect(pieces).toEqual([["See [a].", "[a]: /x"], ["b", ""], ["[a]: /x"]]);
    const { container } = show(<Markdown text={"[One][a] and [b].\n\ntext\n\n[A]: /s/one\n[b]: /s/two"} />);
    const links = [...container.querySelectorAll("a")].map((link) => link.getAttribute("href"));
    expect(links).toEqual(["/s/one", "/s/two"]);
  });

  it("adds nothing to code that is still open, and keeps footnotes whole", () => {
    expect(markdownBlocks("[a]: /x\n\n```\nlist[a]").at(-1)).toBe("```\nlist[a]");
    expect(markdownBlocks("x[^1]\n\ny\n\n[^1]: note")).toHaveLength(1);
  });

  it("cuts long lists between their items, and counts on", () => {
    const items = (count: number, item: (index: number) => string) =>
      Array.from({ length: count }, (_, index) => item(index + 1)).join("\n");
    const pieces = markdownBlocks(items(150, (index) => `${index}. item\n   - inner`));
    expect(pieces.length).toBeGreaterThan(3);
    expect(pieces.join("\n")).toBe(items(150, (index) => `${index}. item\n   - inner`));
    expect(pieces.every((piece) => /^\d+\. /.test(piece))).toBe(true);
    expect(markdownBlocks(items(150, () => "1. item"))).toHaveLength(1);
    const { container } = show(<Markdown text={items(130, (index) => `${index}. item`)} />);
    const starts = [...container.querySelectorAll("ol")].map((list) => list.getAttribute("start"));
    expect(starts).toEqual([null, "61", "121"]);
    expect(container.querySelectorAll("li")).toHaveLength(130);
  });
});

describe("an answer of 100 kB that grows (UI-05)", () => {
  it("draws only what is new", () => {
    const text = Array.from({ length: 400 }, (_, index) => `Paragraph ${index} with **bold** ${"word ".repeat(45)}`).join("\n\n");
    const drawn: number[] = [];
    const view = (shown: string) => (
      <Profiler id="answer" onRender={(_id, _phase, duration) => drawn.push(duration)}>
        <Markdown text={shown} live />
      </Profiler>
    );
    const { container, rerender } = show(view(text));
    const before = [...container.querySelectorAll("p")];
    for (let words = 1; words <= 5; words += 1) rerender(view(`${text} more ${words}`));
    const [first = 0, ...later] = drawn;
    expect(container.textContent).toContain("more 5");
    expect([...container.querySelectorAll("p")].slice(0, -1)).toEqual(before.slice(0, -1));
    expect(Math.min(...later)).toBeLessThan(first / 10);
  }, 30_000);
});
