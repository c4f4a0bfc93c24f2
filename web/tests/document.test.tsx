import { describe, expect, it } from "vitest";
import { isBlank } from "@/features/document/attrs";
import { DocumentView } from "@/features/document/components/DocumentView";
import type { DocNode } from "@/features/document/types";
import { show } from "./render";

const text = (value: string, ...marks: DocNode["marks"] & object): DocNode => ({
  type: "text",
  text: value,
  marks,
});
const block = (type: string, id: string | null, content: DocNode[] = [], attrs = {}): DocNode => ({
  type,
  attrs: { id, ...attrs },
  content,
});
const paragraph = (id: string, ...content: DocNode[]) => block("paragraph", id, content);

function html(...content: DocNode[]): HTMLElement {
  return show(<DocumentView content={{ type: "doc", content }} />).container;
}

describe("a stored document", () => {
  it("gives every block its id, so that an address can name it", () => {
    const root = html(
      paragraph("b1", text("one")),
      block("heading", "b2", [text("two")], { level: 2 }),
      block("bulletList", "b3", [block("listItem", "b4", [paragraph("b5", text("three"))])]),
      block("orderedList", "b6", [block("listItem", "b7", [paragraph("b8")])], { start: 3 }),
      block("taskList", "b9", [block("taskItem", "b10", [paragraph("b11")], { checked: true })]),
      block("table", "b12", [
        block("tableRow", "b13", [
          block("tableHeader", "b14", [paragraph("b15")], { colspan: 2, rowspan: 1 }),
          block("tableCell", "b16", [paragraph("b17")], { colspan: 1, rowspan: 3 }),
        ]),
      ]),
      block("codeBlock", "b18", [text("x = 1")], { language: "python" }),
      block("blockquote", "b19", [paragraph("b20")]),
      block("callout", "b21", [paragraph("b22")], { type: "danger" }),
      block("horizontalRule", "b23"),
      block("image", "b24", [], { src: "/v1/attachments/1", alt: "A map" }),
    );
    const missing = Array.from({ length: 24 }, (_, index) => `b${index + 1}`).filter(
      (id) => root.querySelector(`[id="${id}"]`) === null,
    );
    expect(missing).toEqual([]);
    expect(root.querySelector("#b2")?.tagName).toBe("H2");
    expect(root.querySelector("#b6")?.getAttribute("start")).toBe("3");
    expect(root.querySelector("#b14")?.getAttribute("colspan")).toBe("2");
    expect(root.querySelector("#b16")?.getAttribute("rowspan")).toBe("3");
    expect(root.querySelector<HTMLInputElement>("#b10 input")?.checked).toBe(true);
    expect(root.querySelector("#b21")?.getAttribute("data-kind")).toBe("danger");
    expect(root.querySelector("#b24")?.getAttribute("src")).toBe("/v1/attachments/1");
  });

  it("shows every mark, nested in their order", () => {
    const kinds = ["bold", "italic", "strike", "underline", "highlight", "superscript", "subscript"];
    const marks = kinds.map((type) => ({ type }));
    const root = html(paragraph("p", text("all", ...marks), text("c()", { type: "code" })));
    expect(root.querySelector("strong > em > s > u > mark > sup > sub")?.textContent).toBe("all");
    expect(root.querySelector("code")?.textContent).toBe("c()");
  });

  it("keeps links inside the app and names the host of those outside", () => {
    const link = (href: string) => ({ type: "link", attrs: { href } });
    const root = html(
      paragraph(
        "p",
        text("in", link("/s/a/p/b-1#x")),
        text("out", link("https://opm.example.com/x")),
        text("bad", link("javascript:alert(1)")),
      ),
    );
    const [inside, outside, ...others] = root.querySelectorAll("a");
    expect(others).toEqual([]);
    expect(inside?.getAttribute("href")).toBe("/s/a/p/b-1#x");
    expect(outside?.getAttribute("rel")).toContain("noopener");
    expect(outside?.textContent).toBe("out (opm.example.com)");
    expect(root.textContent).toContain("bad");
  });

  it("fetches no image from elsewhere", () => {
    const root = html(block("image", "i", [], { src: "https://t.example.net/a.png", alt: "Chart" }));
    expect(root.querySelector("img")).toBeNull();
    expect(root.textContent).toContain("Chart");
    expect(root.textContent).toContain("t.example.net");
  });

  it("links a mentioned page and names a mentioned person", () => {
    const mention = (attrs: object): DocNode => ({ type: "mention", attrs: { ...attrs } });
    const root = html(
      paragraph(
        "p",
        mention({ id: "p8", label: "Travel", entityType: "page" }),
        mention({ id: "u1", label: "Ada", entityType: "user" }),
      ),
    );
    expect(root.querySelector("a")?.getAttribute("href")).toBe("/p/p8");
    expect(root.textContent).toBe("Travel@Ada");
  });

  it("shows the content of a node that it does not know", () => {
    expect(html(block("toggle", "t", [paragraph("p", text("inside"))])).textContent).toBe("inside");
  });

  it("reads attributes of a wrong type as absent", () => {
    const root = html(block("heading", null, [text("h")], { level: "x", id: 7 }));
    expect(root.querySelector("h1")?.id).toBe("");
  });

  it("is blank when it would show nothing", () => {
    const doc = (...content: DocNode[]): DocNode => ({ type: "doc", content });
    expect(isBlank(doc(paragraph("p"), paragraph("q", text("  "))))).toBe(true);
    expect(isBlank(doc(paragraph("p", text("x"))))).toBe(false);
    expect(isBlank(doc(block("image", "i")))).toBe(false);
  });
});
