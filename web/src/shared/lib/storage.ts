/** Browser storage that may be switched off or full: reading gives null, writing does nothing. */
export function readStored<T>(area: Storage, key: string): T | null {
  try {
    const text = area.getItem(key);
    return text === null ? null : (JSON.parse(text) as T);
  } catch {
    return null;
  }
}

export function writeStored(area: Storage, key: string, value: unknown): void {
  try {
    if (value === null) area.removeItem(key);
    else area.setItem(key, JSON.stringify(value));
  } catch {
    // Nothing depends on the value being kept.
  }
}
