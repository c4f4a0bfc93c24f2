/** What nobody caught and what was written to the console: an application would see it too. */
export function collectComplaints() {
  const complaints = [];
  const note = (kind) => (...what) => {
    complaints.push(`${kind}: ${what.map((item) => item?.stack ?? String(item)).join(" ")}`);
  };
  for (const level of ["error", "warn"]) globalThis.console[level] = note(`console.${level}`);
  process.on("unhandledRejection", note("unhandled rejection"));
  process.on("uncaughtException", note("uncaught exception"));
  return complaints;
}
