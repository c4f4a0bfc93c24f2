const SILENCE_MS = 30_000; // the server says something every 15 s at least

/**
 * `fetch` whose body ends as a broken connection does when nothing comes for too long: a line
 * that went away in a suspended machine or another network does not end by itself.
 */
export const unlessSilent =
  (fetcher: typeof fetch, ms = SILENCE_MS): typeof fetch =>
  async (input, init) => {
    const response = await fetcher(input, init);
    // A browser may give an empty answer, 204, a body, and no answer of that status takes one.
    if (response.status !== 200 || response.body === null) return response;
    return new Response(watched(response.body, ms), response);
  };

function watched(body: ReadableStream<Uint8Array>, ms: number): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream({
    async pull(controller) {
      let timer = 0;
      const silence = new Promise<never>((_, reject) => {
        // The AI SDK knows a broken connection by this word.
        timer = window.setTimeout(() => reject(new TypeError("network silence")), ms);
      });
      try {
        const { done, value } = await Promise.race([reader.read(), silence]);
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        controller.error(error);
        void reader.cancel(error).catch(() => {});
      } finally {
        window.clearTimeout(timer);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
