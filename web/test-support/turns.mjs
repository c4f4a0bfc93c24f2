// Scripted answers in the shape of the AI SDK's UI message stream; the question picks one.
const PAGE = "/s/handbook/p/annual-leave-p7";

function words(id, text) {
  const pieces = text.match(/\S+\s*/g) ?? [];
  return [
    { type: "text-start", id },
    ...pieces.map((delta) => ({ type: "text-delta", id, delta })),
    { type: "text-end", id },
  ];
}

function call(id, toolName, title, input, output) {
  return [
    { type: "tool-input-start", toolCallId: id, toolName, title },
    { type: "tool-input-available", toolCallId: id, toolName, title, input },
    { wait: 400 },
    output instanceof Error
      ? { type: "tool-output-error", toolCallId: id, errorText: output.message }
      : { type: "tool-output-available", toolCallId: id, output },
  ];
}

const ANSWER = `Up to **240 hours** of annual leave may be carried over ([Annual leave](${PAGE}#b99)).

1. Ask your supervisor.
2. Enter the hours in the tool.

| Years | Hours |
|---|---|
| 0–3 | 4 |

\`\`\`python
def hours(years: int) -> int:
    return 4 if years < 3 else 6
\`\`\`

<script>alert(1)</script> ![pixel](https://tracker.example.net/a.png) [outside](https://opm.example.org/x) [bad](javascript:alert(1))`;

const lines = (count, line) => Array.from({ length: count }, (_, index) => line(index));

/** About 100 kB of each kind. */
const LENGTHS = {
  paragraphs: () => lines(400, (index) => `Paragraph ${index} with **bold** and \`code\`. ${"word ".repeat(40)}`).join("\n\n"),
  list: () => lines(1200, (index) => `- Item ${index} with **bold** and ${"more words ".repeat(5)}`).join("\n"),
  code: () => ["```python", ...lines(1600, (index) => `value_${index} = compute(${index}, "some text of a line of code")`), "```"].join("\n"),
  table: () => ["| a | b | c |", "|---|---|---|", ...lines(1000, (index) => `| ${index} | **bold** words in a cell | ${"word ".repeat(10)} |`)].join("\n"),
  references: () => `[ref]: /s/handbook/p/travel-p8\n\n${lines(400, (index) => `Paragraph ${index} of [a page][ref]. ${"word ".repeat(44)}`).join("\n\n")}`,
};

function atLength(text) {
  const deltas = text().match(/[\s\S]{1,80}/g).map((delta) => ({ type: "text-delta", id: "x1", delta, fast: true }));
  return [{ type: "text-start", id: "x1" }, ...deltas, { type: "text-end", id: "x1" }, { type: "finish-step" }];
}

const failing = (errorCode) => [
  { type: "message-metadata", messageMetadata: { errorCode } },
  { type: "error", errorText: `The provider answered: ${errorCode}.` },
];

function cutShort(question) {
  const done = /goes on/.test(question);
  const text = done ? "and here is the rest of it." : "This answer reaches its limit in the middle of a sentence, ";
  return [...words("x1", text), { type: "finish-step" }, { type: "message-metadata", messageMetadata: { truncated: !done } }];
}

function writing() {
  const leave = { pageId: "p7", title: "Annual leave", url: PAGE, version: 4 };
  const travel = { pageId: "p8", title: "Travel", url: "/s/handbook/p/travel-p8", version: 1 };
  const edits = [
    { find: "Up to 240 hours of annual leave may be carried over", replace: "Up to 200 hours of annual leave may be carried over" },
    { find: "pay period", replace: "month", replaceAll: true },
    { find: "A sentence that is not on the page", replace: "Another one" },
  ];
  const applied = [{ find: edits[0].find, replacements: 1 }, { find: edits[1].find, replacements: 3 }];
  const failed = [{ find: edits[2].find, reason: "This text is not on the page." }];
  return [
    ...call("w1", "editPageText", "Edit page", { pageId: "p7", edits }, { ...leave, applied, failed, changed: true }),
    ...call("w2", "updatePageContent", "Rewrite page", { pageId: "p8", content: "# Travel\n\nBook early." }, { ...travel, version: 2, applied: [], failed: [], changed: true }),
    ...call("w3", "createPage", "Create page", { title: "Leave calendar" }, { pageId: "p9", title: "Leave calendar", url: "/s/handbook/p/leave-calendar-p9", version: 1 }),
    { type: "finish-step" },
    {
      type: "message-metadata",
      messageMetadata: {
        changes: [
          { ...leave, action: "edited" },
          { ...travel, version: 2, action: "edited" },
          { pageId: "p9", title: "Leave calendar", url: "/s/handbook/p/leave-calendar-p9", action: "created", version: 1 },
        ],
      },
    },
    { type: "start-step" },
    ...words("x2", "I have lowered the limit on **Annual leave**, rewritten *Travel* and made a calendar."),
    { type: "finish-step" },
  ];
}

export function script(question) {
  const start = [{ type: "start-step" }];
  const search = call("k1", "searchPages", "Search pages", { query: question }, {
    hits: [{ pageId: "p7", title: "Annual leave", url: PAGE }],
    mode: "hybrid",
  });
  const failure = /error(?: (\w+))?/.exec(question);
  if (failure) return [...start, ...words("x1", "I was about to say "), ...failing(failure[1] ?? "provider_error")];
  if (/short/.test(question)) return [...start, ...cutShort(question)];
  if (/edit/.test(question)) return [...start, ...writing()];
  const long = /long(?: (\w+))?/.exec(question);
  if (long) return [...start, ...atLength(LENGTHS[long[1]] ?? LENGTHS.paragraphs)];
  const refused = /fail/.test(question)
    ? call("k3", "getPage", "Read page", { pageId: "nope" }, new Error("There is no such page."))
    : [];
  const breaks = /break/.test(question) ? [{ breakOff: true }] : [];
  return [
    ...start,
    { type: "reasoning-start", id: "r1" },
    ...["The person ", "asks about leave; ", "I should search."].map((delta) => ({ type: "reasoning-delta", id: "r1", delta })),
    { type: "reasoning-end", id: "r1" },
    ...search,
    ...call("k2", "getPage", "Read page", { pageId: "p7" }, { pageId: "p7", title: "Annual leave", url: PAGE, markdown: "…" }),
    ...refused,
    { type: "finish-step" },
    { type: "start-step" },
    ...words("x2", ANSWER).flatMap((chunk, index) => (index === 12 ? [chunk, ...breaks] : [chunk])),
    { type: "source-url", sourceId: "p7", url: `${PAGE}#b99`, title: "Annual leave" },
    { type: "source-url", sourceId: "p8", url: "/s/handbook/p/travel-p8", title: "Travel" },
    { type: "finish-step" },
  ];
}

/** The parts that the chunks so far amount to, as the list of messages answers them. */
export function partsOf(chunks) {
  const parts = [];
  const find = (test) => parts.find(test);
  for (const chunk of chunks) {
    if (chunk.type === "start-step") parts.push({ type: "step-start" });
    if (chunk.type === "text-start" || chunk.type === "reasoning-start") {
      parts.push({ type: chunk.type.replace("-start", ""), id: chunk.id, text: "", state: "done" });
    }
    if (chunk.type === "text-delta" || chunk.type === "reasoning-delta") {
      find((part) => part.id === chunk.id).text += chunk.delta;
    }
    if (chunk.type === "tool-input-available") {
      parts.push({ type: `tool-${chunk.toolName}`, toolCallId: chunk.toolCallId, state: "input-available", input: chunk.input });
    }
    if (chunk.type === "tool-output-available" || chunk.type === "tool-output-error") {
      const part = find((candidate) => candidate.toolCallId === chunk.toolCallId);
      Object.assign(part, chunk.type === "tool-output-error"
        ? { state: "output-error", errorText: chunk.errorText }
        : { state: "output-available", output: chunk.output });
    }
    if (chunk.type === "source-url") parts.push(chunk);
  }
  return parts;
}
