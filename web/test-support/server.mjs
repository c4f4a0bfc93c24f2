// A stand-in for the API, for looking at the interface without one: node test-support/server.mjs
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { chatOf, chats, send, stream, summary } from "./chat.mjs";
import { pages, spaces } from "./data.mjs";
import { historyOf, remember, versionOf } from "./history.mjs";
import { refuse } from "./refusals.mjs";
import * as ai from "./settings.mjs";
import { showBranch, shownBranch } from "./tree.mjs";

const PORT = Number(process.env.STAND_IN_PORT ?? 8123);
const DIST = process.env.STAND_IN_DIST ?? new URL("../dist", import.meta.url).pathname;
const TYPES = { ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".html": "text/html" };
const POLICY =
  "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";
const USER = { id: "u1", email: "ada@example.org", name: "Ada Lovelace", role: "owner" };
const ME = { user: USER, workspace: { id: "w1", name: "Pageturn" } };

const trashed = new Map();
const list = (items) => ({ items, nextCursor: null });
const shown = (page, query) => {
  const { content, markdown, ...rest } = page;
  const space = spaces.find((candidate) => candidate.id === page.spaceId);
  const url = `/s/${space.slug}/p/${page.slugId}`;
  return { ...rest, url, ...(query.get("format") === "markdown" ? { markdown } : { content }) };
};
const pageOf = (id) => pages.get(id) ?? refuse(404, "not_found", "There is no such page.");

function tree(space, query) {
  const parent = query.get("parentPageId");
  const all = [...pages.values()].filter((page) => page.spaceId === space);
  return list(
    all
      .filter((page) => page.parentPageId === parent)
      .map(({ id, title, slugId, parentPageId }) => ({ id, title, slugId, parentPageId, hasChildren: all.some((page) => page.parentPageId === id) })),
  );
}

function createPage(body) {
  const id = `n${pages.size}`;
  const page = { ...pages.get("p4"), ...body, id, slugId: id, version: 1, updatedAt: new Date().toISOString() };
  pages.set(id, page);
  return page;
}

function savePage(page, body) {
  if (body.baseVersion !== undefined && body.baseVersion !== page.version) {
    refuse(409, "conflict", "The page was changed meanwhile.");
  }
  remember(page);
  const source = { lastUpdatedSource: "user", lastUpdatedAiChatId: null };
  Object.assign(page, body, source, { version: page.version + 1, updatedAt: new Date().toISOString() });
  return page;
}

function search(query) {
  const q = query.get("q").toLowerCase();
  const found = [...pages.values()].filter((page) => page.title.toLowerCase().includes(q));
  return {
    items: found.map((page) => ({
      pageId: page.id, title: page.title, spaceId: page.spaceId, spaceName: "Handbook",
      snippet: "Up to 240 hours of annual leave may be carried over into the next year, and more on request of the supervisor.",
      url: `/s/handbook/p/x-${page.slugId}#b99`, headingPath: [page.title, "Limits"],
    })),
    mode: "text",
    note: "text only",
  };
}

function remove(id) {
  trashed.set(id, pageOf(id));
  pages.delete(id);
}

function restore(id) {
  pages.set(id, trashed.get(id) ?? refuse(404, "not_found", "There is no such page."));
  return pages.get(id);
}

const ROUTES = [
  ["GET", /^\/v1\/auth\/me$/, () => ME],
  ["POST", /^\/v1\/auth\/sign-out$/, () => undefined],
  ["GET", /^\/v1\/spaces$/, () => list(spaces)],
  ["GET", /^\/v1\/spaces\/([^/]+)\/tree$/, ({ id, query }) => tree(id, query)],
  ["GET", /^\/v1\/pages\/([^/]+)$/, ({ id, query }) => shown(pageOf(id), query)],
  ["POST", /^\/v1\/pages$/, ({ body, query }) => shown(createPage(body), query)],
  ["PATCH", /^\/v1\/pages\/([^/]+)$/, ({ id, body, query }) => shown(savePage(pageOf(id), body), query)],
  ["DELETE", /^\/v1\/pages\/([^/]+)$/, ({ id }) => remove(id)],
  ["POST", /^\/v1\/pages\/([^/]+)\/restore$/, ({ id, query }) => shown(restore(id), query)],
  ["GET", /^\/v1\/search$/, ({ query }) => search(query)],
  ["GET", /^\/v1\/pages\/([^/]+)\/history$/, ({ id }) => historyOf(pageOf(id))],
  ["GET", /^\/v1\/pages\/([^/]+)\/history\/(\d+)$/, ({ id, rest }) => versionOf(pageOf(id), rest)],
  ["GET", /^\/v1\/workspace\/ai-settings$/, () => ai.settings()],
  ["PATCH", /^\/v1\/workspace\/ai-settings$/, ({ body }) => ai.saveSettings(body)],
  ["POST", /^\/v1\/workspace\/ai-settings\/test$/, ({ body }) => ai.testSettings(body)],
  ["GET", /^\/v1\/workspace\/ai-status$/, () => ai.status()],
  ["GET", /^\/v1\/workspace\/ai-models$/, () => list(ai.listModels())],
  ["PUT", /^\/v1\/workspace\/ai-models$/, ({ body }) => ai.saveModel(body)],
  ["DELETE", /^\/v1\/workspace\/ai-models$/, ({ query }) => ai.removeModel(query.get("driver"), query.get("model"))],
  ["GET", /^\/v1\/ai\/models$/, () => ai.choice()],
  ["GET", /^\/v1\/ai\/chats$/, ({ query }) => chatList(query.get("pageId"))],
  ["GET", /^\/v1\/ai\/chats\/([^/]+)$/, ({ id }) => summary(chatOf(id))],
  ["GET", /^\/v1\/ai\/chats\/([^/]+)\/messages$/, ({ id }) => list(shownBranch(chatOf(id)))],
  ["GET", /^\/v1\/ai\/chats\/([^/]+)\/queue$/, () => ({ items: [], held: false })], // it refuses what comes during an answer
  ["POST", /^\/v1\/ai\/chats\/([^/]+)\/branch$/, ({ id, body }) => showBranch(chatOf(id), body.messageId)],
  ["PATCH", /^\/v1\/ai\/chats\/([^/]+)$/, ({ id, body }) => summary(Object.assign(chatOf(id), body))],
  ["DELETE", /^\/v1\/ai\/chats\/([^/]+)$/, ({ id }) => void chats.delete(chatOf(id).id)],
  ["POST", /^\/v1\/ai\/chat\/tenant\/([^/]+)\/stop$/, ({ id }) => ({ stopped: (chatOf(id).turn.stopped = true) })],
];

function chatList(pageId) {
  const wanted = [...chats.values()].filter((chat) => pageId === null || chat.pageId === pageId);
  return list(wanted.toSorted((a, b) => b.updatedAt.localeCompare(a.updatedAt)).map(summary));
}

/** Words in a question that make the API refuse it before an answer begins. */
const REFUSALS = [
  [/busy/, 429, "rate_limited", "Too many requests.", { retryAfter: 8 }],
  [/unconfigured/, 503, "not_configured", "The model is not set up.", { details: { missing: ["apiKey", "chatModel"] } }],
  [/ceiling/, 403, "token_ceiling", "This chat has used all of its tokens."],
  [/disabled/, 403, "chat_disabled", "Chat is switched off in this workspace."],
];

function gate(body) {
  const text = body.messages?.at(-1)?.parts[0].text ?? "";
  for (const [pattern, ...refusal] of REFUSALS) if (pattern.test(text)) refuse(...refusal);
}

let signedIn = false;

function signIn(body, response) {
  if (body.password === "wrong" || body.token === "used") {
    refuse(401, "unauthenticated", "The email or the password is wrong.");
  }
  signedIn = true;
  USER.role = body.email?.startsWith("member") ? "member" : "owner";
  response.setHeader("set-cookie", "pageturn_session=stand-in; HttpOnly; SameSite=Lax; Path=/");
  return { accessToken: "stand-in", user: USER };
}

async function answer(request, response, url, body) {
  if (/^\/v1\/auth\/sign-in(-link)?$/.test(url.pathname)) return signIn(body, response);
  if (!signedIn) refuse(401, "unauthenticated", "Sign in first.");
  if (url.pathname === "/v1/auth/sign-out") signedIn = false;
  if (url.pathname === "/v1/ai/chat/tenant") {
    gate(body);
    return stream(send(body), response);
  }
  const resume = /^\/v1\/ai\/chat\/tenant\/([^/]+)\/stream$/.exec(url.pathname);
  if (resume) {
    const turn = chatOf(decodeURIComponent(resume[1])).turn;
    return turn && !turn.done ? stream(turn, response) : undefined;
  }
  for (const [method, pattern, handle] of ROUTES) {
    const match = pattern.exec(url.pathname);
    if (match && method === request.method) {
      return handle({ id: match[1] && decodeURIComponent(match[1]), rest: match[2], query: url.searchParams, body });
    }
  }
  return refuse(404, "not_found", "There is no such address.");
}

async function serveFile(response, path) {
  const name = extname(path) === "" ? "/index.html" : normalize(path);
  const data = await readFile(join(DIST, name)).catch(() => null);
  if (data === null) return response.writeHead(404).end();
  const type = TYPES[extname(name)] ?? "application/octet-stream";
  response.writeHead(200, { "content-type": `${type}; charset=utf-8`, "content-security-policy": POLICY, "x-content-type-options": "nosniff" });
  response.end(data);
}

createServer(async (request, response) => {
  const url = new URL(request.url, "http://stand-in");
  if (!url.pathname.startsWith("/v1/")) return serveFile(response, url.pathname);
  try {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const result = await answer(request, response, url, text === "" ? undefined : JSON.parse(text));
    if (response.headersSent) return;
    response.writeHead(result === undefined ? 204 : 200, { "content-type": "application/json" });
    response.end(result === undefined ? undefined : JSON.stringify(result));
  } catch (error) {
    const { status = 500, error: code = "error", message, details, retryAfter } = error;
    const wait = retryAfter === undefined ? {} : { "retry-after": String(retryAfter) };
    response.writeHead(status, { "content-type": "application/json", ...wait });
    response.end(JSON.stringify({ error: code, message, details }));
  }
}).listen(PORT, "127.0.0.1");
