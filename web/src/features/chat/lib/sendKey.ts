/** Enter sends; with Shift, or while an input method composes a word, it belongs to the text. */
export function isSendKey(
  event: Pick<KeyboardEvent, "key" | "shiftKey" | "isComposing" | "keyCode">,
): boolean {
  // Some browsers end the composition first and mark that Enter only by the old key code.
  const composing = event.isComposing || event.keyCode === 229;
  return event.key === "Enter" && !event.shiftKey && !composing;
}
