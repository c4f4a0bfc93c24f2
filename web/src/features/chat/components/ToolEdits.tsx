import { useTranslation } from "react-i18next";
import type { ToolEdits as Edits } from "../lib/toolEdits";

/** The pieces of text that a call replaced. */
export function AppliedEdits({ edits }: { edits: Edits }) {
  const { t } = useTranslation();
  if (edits.applied.length === 0) return null;
  return (
    <>
      <h4>{t("tool.applied")}</h4>
      <ul className="tool-edits">
        {edits.applied.map(({ find, replace, replacements }, index) => (
          <li key={index}>
            <del>{find}</del>
            {replace === null ? null : <ins>{replace}</ins>}
            {replacements > 1 ? (
              <span className="muted">{t("tool.replacements", { count: replacements })}</span>
            ) : null}
          </li>
        ))}
      </ul>
    </>
  );
}

/**
 * What a call was to replace and did not: seen without opening the card. The reasons are words
 * for the model, so only an opened card shows them.
 */
export function FailedEdits({ edits, reasons }: { edits: Edits; reasons: boolean }) {
  const { t } = useTranslation();
  return (
    <>
      {edits.failed.length === 0 ? null : (
        <ul className="tool-failed" aria-label={t("tool.notApplied")}>
          {edits.failed.map(({ find, reason }, index) => (
            <li key={index}>
              {t("tool.notApplied")}: <q>{find}</q>
              {reason === "" || !reasons ? null : <span className="muted"> {reason}</span>}
            </li>
          ))}
        </ul>
      )}
      {edits.unchanged ? <p className="tool-note">{t("tool.unchanged")}</p> : null}
    </>
  );
}
