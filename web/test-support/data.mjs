// The small wiki of the stand-in server: one page with every kind of block.
const text = (value, ...marks) => ({ type: "text", text: value, ...(marks.length ? { marks } : {}) });
const block = (type, id, content, attrs = {}) => ({ type, attrs: { id, ...attrs }, content });
const paragraph = (id, ...content) =>
  block("paragraph", id, content.map((part) => (typeof part === "string" ? text(part) : part)));
const cell = (id, value, attrs = {}, type = "tableCell") =>
  block(type, id, [paragraph(`${id}p`, value)], attrs);
const link = (href) => ({ type: "link", attrs: { href } });

export const CONTENT = {
  type: "doc",
  content: [
    paragraph(
      "b1",
      "Employees accrue ",
      text("annual leave", { type: "bold" }),
      " every pay period. ",
      text("Italic", { type: "italic" }),
      ", ",
      text("struck", { type: "strike" }),
      ", ",
      text("code()", { type: "code" }),
      ", ",
      text("marked", { type: "highlight" }),
      " and a ",
      text("link inside", link("/s/handbook/p/travel-p8")),
      ", ",
      text("the OPM fact sheet", link("https://opm.example.org/leave")),
      " and ",
      text("a bad one", link("javascript:alert(1)")),
      ".",
    ),
    block("heading", "b2", [text("How to request leave")], { level: 2 }),
    block("orderedList", "b3", [
      block("listItem", "b4", [paragraph("b5", "Ask your supervisor.")]),
      block("listItem", "b6", [
        paragraph("b7", "Enter the hours in the tool:"),
        block("bulletList", "b8", [
          block("listItem", "b9", [paragraph("b10", "for each day")]),
          block("listItem", "b11", [paragraph("b12", "in quarter hours")]),
        ]),
      ]),
    ], { start: 1 }),
    block("taskList", "b13", [
      block("taskItem", "b14", [paragraph("b15", "Tell your team")], { checked: true }),
      block("taskItem", "b16", [paragraph("b17", "Set an out-of-office reply")], { checked: false }),
    ]),
    block("callout", "b18", [paragraph("b19", "Plan leave early in the year.")], { type: "warning" }),
    block("heading", "b20", [text("Limits")], { level: 2 }),
    block("table", "b21", [
      block("tableRow", "b22", [
        cell("b23", "Years of service", {}, "tableHeader"),
        cell("b24", "Hours", { colspan: 2 }, "tableHeader"),
      ]),
      block("tableRow", "b25", [
        cell("b26", "0–3", { rowspan: 2 }),
        cell("b27", "4 a pay period"),
        cell("b28", "104 a year"),
      ]),
      block("tableRow", "b29", [cell("b30", "carry over"), cell("b31", "240 at most")]),
    ]),
    block("blockquote", "b32", [paragraph("b33", "Rest is part of the work.")]),
    block("codeBlock", "b34", [text("def hours(years: int) -> int:\n    # a pay period\n    return 4 if years < 3 else 6\n")], { language: "python" }),
    block("horizontalRule", "b35", undefined),
    block("image", "b36", undefined, { src: "https://tracker.example.net/pixel.png", alt: "Diagram" }),
    block("image", "b37", undefined, { src: "/favicon.svg", alt: "The mark of Pageturn" }),
    paragraph(
      "b38",
      "Ask ",
      { type: "mention", attrs: { id: "m1", label: "Ada", entityType: "user", entityId: "u2" } },
      " or see ",
      { type: "mention", attrs: { id: "m2", label: "Travel", entityType: "page", entityId: "p8" } },
      ".",
    ),
    ...Array.from({ length: 12 }, (_, index) =>
      paragraph(`f${index}`, `Further paragraph ${index + 1}. `.repeat(6))),
    paragraph("b99", "Up to 240 hours of annual leave may be carried over into the next year."),
  ],
};

export const MARKDOWN = "Employees accrue **annual leave** every pay period.\n\n## How to request leave\n\n1. Ask your supervisor.\n2. Enter the hours.\n\n| Years | Hours |\n|---|---|\n| 0–3 | 4 |\n";

const page = (id, title, parentPageId = null, rest = {}) => ({
  id,
  slugId: id,
  spaceId: "s1",
  parentPageId,
  title,
  content: CONTENT,
  markdown: MARKDOWN,
  version: 3,
  updatedAt: new Date(Date.now() - 3 * 3_600_000).toISOString(),
  lastUpdatedBy: { id: "u1", name: "Ada Lovelace" },
  lastUpdatedSource: "user",
  lastUpdatedAiChatId: null,
  aiChat: null,
  ...rest,
});

export const pages = new Map(
  [
    page("p1", "Travel and leave"),
    page("p7", "Annual leave", "p1", { lastUpdatedSource: "agent", lastUpdatedAiChatId: "c1", aiChat: { id: "c1", mine: true } }),
    page("p8", "Travel", "p1"),
    page("p9", "Отпуск и поездки: порядок согласования с руководителем", "p1"),
    page("p2", "Getting started"),
    page("p3", "🎉🎉"),
    page("p4", "Empty page", null, { content: { type: "doc", content: [block("paragraph", "e1")] }, markdown: "" }),
    page("p5", "Welcome", null, { spaceId: "s2" }),
  ].map((entry) => [entry.id, entry]),
);

export const spaces = [
  { id: "s1", name: "Handbook", slug: "handbook", role: "writer" },
  { id: "s2", name: "Getting started", slug: "getting-started", role: "reader" },
];
