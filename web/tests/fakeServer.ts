export interface Seen {
  method: string;
  path: string;
  body: unknown;
}

type Handler = (seen: Seen) => Response | Promise<Response>;

/** Stands where the network is: answers by "METHOD /path" and remembers what was asked. */
export class FakeServer {
  readonly seen: Seen[] = [];
  private readonly handlers = new Map<string, Handler>();
  private readonly network = globalThis.fetch;

  constructor() {
    globalThis.fetch = (input, init) => this.answer(String(input), init ?? {});
  }

  close(): void {
    globalThis.fetch = this.network;
  }

  on(route: string, handler: Handler): this {
    this.handlers.set(route, handler);
    return this;
  }

  handler(route: string): Handler {
    const handler = this.handlers.get(route);
    if (handler === undefined) throw new Error(`nothing answers ${route}`);
    return handler;
  }

  asked(route: string): Seen[] {
    return this.seen.filter(({ method, path }) => `${method} ${path}` === route);
  }

  private async answer(path: string, init: RequestInit): Promise<Response> {
    const method = init.method ?? "GET";
    const body: unknown = typeof init.body === "string" ? JSON.parse(init.body) : undefined;
    const seen = { method, path: path.replace(/\?.*$/, ""), body };
    this.seen.push(seen);
    const handler = this.handlers.get(`${method} ${seen.path}`);
    if (handler === undefined) return refusal(404, "not_found");
    return handler(seen);
  }
}

export const json = (body: unknown, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", ...headers },
  });

export const refusal = (status: number, error: string): Response =>
  json({ error, message: "Words." }, status);

/** An event stream of these chunks; without `finish` among them it breaks off. */
export const stream = (...chunks: object[]): Response =>
  new Response(chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join(""), {
    headers: { "content-type": "text/event-stream" },
  });
