// A chat's messages as a tree: another text or another answer is a sibling; one branch is shown.
import { randomUUID } from "node:crypto";
import { refuse } from "./refusals.mjs";

export function addMessage(chat, { role, parts, parentId, status, clientId = null }) {
  const createdAt = new Date(Date.now() + chat.messages.length).toISOString();
  const message = { id: randomUUID(), clientId, parentId, role, parts, metadata: {}, status, createdAt };
  chat.messages.push(message);
  chat.leaf = message.id;
  return message;
}

export const findMessage = (chat, id) =>
  chat.messages.find((message) => id && (message.id === id || message.clientId === id));
export const leafOf = (chat) => findMessage(chat, chat.leaf);
export const siblings = (chat, message) =>
  chat.messages.filter(({ parentId, role }) => parentId === message.parentId && role === message.role);

/** The changes of the turns under a message, itself among them. */
function changesUnder(chat, message) {
  const below = chat.messages.filter(({ parentId }) => parentId === message.id);
  return [...(message.metadata.changes ?? []), ...below.flatMap((child) => changesUnder(chat, child))];
}

/** The branch that is shown, oldest first, as the API answers it. */
export function shownBranch(chat) {
  const branch = [];
  for (let at = leafOf(chat); at; at = findMessage(chat, at.parentId)) branch.unshift(at);
  return branch.map((message) => {
    const all = siblings(chat, message);
    const others = all.filter(({ id }) => id !== message.id);
    return {
      ...message,
      clientId: undefined,
      branch: others.length === 0 ? null : { index: all.findIndex(({ id }) => id === message.id), ids: all.map(({ id }) => id) },
      hiddenChanges: others.flatMap((other) => changesUnder(chat, other)),
    };
  });
}

/** Shows the branch through a message: its newest leaf. */
export function showBranch(chat, messageId) {
  if (chat.turn && !chat.turn.done) refuse(409, "turn_running", "An answer is still being written in this chat.");
  let at = findMessage(chat, messageId) ?? refuse(404, "not_found", "There is no such message.");
  for (let next = at; next; next = chat.messages.findLast(({ parentId }) => parentId === at.id)) at = next;
  chat.leaf = at.id;
}
