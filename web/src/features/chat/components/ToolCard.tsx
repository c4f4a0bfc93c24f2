import { Loader } from "@mantine/core";
import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router";
import { AlertIcon, CheckIcon, ChevronIcon } from "@/shared/ui/icons";
import type { ToolState, ToolView } from "../lib/foldParts";
import { toolEdits } from "../lib/toolEdits";
import { argumentHint, pageOfOutput } from "../lib/tools";
import { useToolLabel } from "../hooks/useToolLabel";
import { AppliedEdits, FailedEdits } from "./ToolEdits";

/** One call of the agent: a line that opens to its arguments and result. */
export function ToolCard({ tool }: { tool: ToolView }) {
  const { t } = useTranslation();
  const label = useToolLabel(tool);
  const [open, setOpen] = useState(false);
  const origin = window.location.origin;
  const page = tool.state === "ok" ? pageOfOutput(tool.output, origin) : null;
  const edits = useMemo(() => toolEdits(tool), [tool]);
  const hint = argumentHint(tool.input, tool.output, origin);
  return (
    <li className="tool" data-state={tool.state}>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <StateMark state={tool.state} label={t(`tool.${tool.state}`)} />
          <span className="tool-label">{label}</span>
          {hint === "" ? null : <span className="tool-hint">{hint}</span>}
          <ChevronIcon size={13} className="summary-chevron" />
        </summary>
        {open ? (
          <div className="tool-body">
            {edits === null ? null : <AppliedEdits edits={edits} />}
            <Json label={t("tool.arguments")} value={tool.input} />
            {tool.output === undefined ? null : (
              <Json label={t("tool.result")} value={tool.output} />
            )}
          </div>
        ) : null}
      </details>
      {edits === null ? null : <FailedEdits edits={edits} reasons={open} />}
      {page === null ? null : (
        <Link className="tool-page" to={page.to} title={page.title}>
          {t("tool.openPage")}
        </Link>
      )}
      {tool.errorText === null ? null : (
        <p className="tool-error">
          {t("tool.error")}: {tool.errorText}
        </p>
      )}
    </li>
  );
}

function StateMark({ state, label }: { state: ToolState; label: string }) {
  return (
    <span className="tool-mark" role="img" aria-label={label} title={label}>
      {state === "running" ? <Loader size={13} /> : null}
      {state === "ok" ? <CheckIcon size={14} /> : null}
      {state === "failed" || state === "notRun" ? <AlertIcon size={14} /> : null}
    </span>
  );
}

const MAX_JSON_CHARS = 20_000; // more is a page, which has a link of its own

function Json({ label, value }: { label: string; value: unknown }) {
  const text = JSON.stringify(value ?? null, null, 2);
  return (
    <>
      <h4>{label}</h4>
      <pre tabIndex={0} aria-label={label}>
        {text.length > MAX_JSON_CHARS ? `${text.slice(0, MAX_JSON_CHARS)}…` : text}
      </pre>
    </>
  );
}
