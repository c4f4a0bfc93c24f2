import { Button } from "@mantine/core";
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { diffLines } from "@/shared/lib/diffLines";
import type { PageMarkdown } from "../types";
import type { useEditor } from "../useEditor";

interface Props {
  editor: ReturnType<typeof useEditor>;
  theirs: PageMarkdown;
}

/** Both texts side by side, with the lines that differ marked. */
export function ConflictPanel({ editor, theirs }: Props) {
  const { t } = useTranslation();
  const sides = useMemo(
    () => diffLines(editor.markdown, theirs.markdown),
    [editor.markdown, theirs.markdown],
  );
  return (
    <section role="alert" className="callout" data-kind="warning">
      <strong>{t("editor.conflictTitle")}</strong>
      <p>
        {t("editor.conflictLead")} {t("editor.conflictHistory")}
      </p>
      <div className="conflict-sides">
        {([["yours", sides.left], ["theirs", sides.right]] as const).map(([side, lines]) => (
          <figure key={side}>
            <figcaption>
              {t(`editor.${side}`)}: <b>{side === "yours" ? editor.title : theirs.title}</b>
            </figcaption>
            <pre tabIndex={0} aria-label={t(`editor.${side}`)}>
              {lines.map((line, index) => (
                <span key={index} className={line.changed ? "line-changed" : undefined}>
                  {line.text}
                  {"\n"}
                </span>
              ))}
            </pre>
          </figure>
        ))}
      </div>
      <div className="row">
        <Button
          size="compact-sm"
          color="orange"
          loading={editor.saving}
          onClick={() => editor.submitOver(theirs)}
        >
          {t("editor.saveMine")}
        </Button>
        <Button size="compact-sm" variant="default" onClick={() => editor.takeTheirs(theirs)}>
          {t("editor.takeTheirs")}
        </Button>
      </div>
    </section>
  );
}
