/** Calls when the browser is online again, or is looked at again; gives what ends that. */
export function onReturn(listener: () => void): () => void {
  const onVisible = () => {
    if (document.visibilityState === "visible") listener();
  };
  window.addEventListener("online", listener);
  document.addEventListener("visibilitychange", onVisible);
  return () => {
    window.removeEventListener("online", listener);
    document.removeEventListener("visibilitychange", onVisible);
  };
}
