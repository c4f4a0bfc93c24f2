const PAUSES_MS = [500, 1000, 2000, 4000, 8000]; // a server is started again within seconds

/** Loads a part of the app; a server that is away just then is waited for. */
export async function patiently<T>(load: () => Promise<T>, pauses = PAUSES_MS): Promise<T> {
  for (const ms of pauses) {
    try {
      return await load();
    } catch {
      await new Promise((resolve) => {
        window.setTimeout(resolve, ms);
      });
    }
  }
  return load();
}
