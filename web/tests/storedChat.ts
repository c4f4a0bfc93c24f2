import type { MessageMetadata, StoredMessage } from "@/features/chat/types";
import { type FakeServer, json } from "./fakeServer";

type Rest = Partial<Pick<StoredMessage, "branch" | "hiddenChanges" | "status">> & {
  metadata?: MessageMetadata;
};

/** A chat as a server keeps it: the shown branch, which a test builds and changes. */
export class StoredChat {
  messages: StoredMessage[] = [];

  constructor(readonly id: string) {}

  question(id: string, text: string, siblings: string[] = []): this {
    const branch = siblings.length > 1 ? { index: siblings.indexOf(id), ids: siblings } : null;
    return this.add({ id, role: "user", branch }, text);
  }

  answer(id: string, text: string, rest: Rest = {}): this {
    return this.add({ id, role: "assistant", ...rest }, text);
  }

  /** Without that message and all that follows it. */
  cut(id: string): this {
    this.messages = this.messages.slice(0, this.messages.findIndex((message) => message.id === id));
    return this;
  }

  serve(server: FakeServer): void {
    server.on(`GET /v1/ai/chats/${this.id}/messages`, () =>
      json({ items: this.messages, nextCursor: null }),
    );
  }

  private add(message: Pick<StoredMessage, "id" | "role"> & Partial<StoredMessage>, text: string): this {
    this.messages = [
      ...this.messages,
      {
        parts: [{ type: "text", text, state: "done" }],
        metadata: {},
        status: "complete",
        createdAt: "2026-11-01T00:00:00Z",
        branch: null,
        hiddenChanges: [],
        ...message,
      },
    ];
    return this;
  }
}
