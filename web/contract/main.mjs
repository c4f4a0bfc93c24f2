/**
 * Clients of the chat API, built with the unmodified AI SDK and led through a scenario: each line
 * of the input is a command, each line of the output its result. At the input's end the process
 * ends.
 *
 *   {"do": "open", "as": NAME, "api": URL, "token": …, "id"?: …, "messages"?: […]}
 *   {"do": "send", "as": NAME, "message"?: {…}, "options"?: {…}}      begins, and returns at once
 *   {"do": "regenerate" | "resume" | "stop", "as": NAME, "options"?: {…}}   so do these
 *   {"do": "until", "as": NAME, "text": …}   waits until the last message says it
 *   {"do": "settle", "as": NAME}             waits until all that was begun has returned
 *   {"do": "validate", "messages": […]}      whether the SDK takes them for its own
 *   {"do": "complaints"}
 *
 * A result is {"ok": what came of it} (for a client: its state) or {"error": text}.
 */
import { createInterface } from "node:readline";
import { validateUIMessages } from "ai";
import { Client } from "./client.mjs";
import { collectComplaints } from "./complaints.mjs";

const METHODS = {
  send: "sendMessage",
  regenerate: "regenerate",
  resume: "resumeStream",
  stop: "stop",
};

const complaints = collectComplaints();
const clients = new Map();

async function perform({ do: name, as, ...given }) {
  if (name === "complaints") return complaints;
  if (name === "validate") return validateUIMessages({ messages: given.messages });
  if (name === "open") clients.set(as, new Client(given));
  const client = clients.get(as);
  if (name in METHODS) begin(client, name, given);
  else if (name === "until") await client.until(given.text);
  else if (name === "settle") await client.settle();
  else if (name !== "open") throw new Error(`no such command: ${name}`);
  return client.state();
}

function begin(client, name, { message, options }) {
  const first = name === "send" ? [message] : [];
  client.begin(METHODS[name], ...first, ...(options === undefined ? [] : [options]));
}

for await (const line of createInterface({ input: process.stdin })) {
  const result = await perform(JSON.parse(line)).then(
    (ok) => ({ ok }),
    (error) => ({ error: String(error?.message ?? error) }),
  );
  process.stdout.write(`${JSON.stringify(result)}\n`);
}
process.exit(0);
