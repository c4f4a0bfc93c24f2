import { Alert, Badge, Button, SegmentedControl, TextInput, Textarea } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Markdown } from "@/shared/ui/Markdown";
import { timeAgo } from "@/shared/lib/time";
import type { PageMarkdown } from "../types";
import { useEditor } from "../useEditor";
import { ConflictPanel } from "./ConflictPanel";

interface Props {
  page: PageMarkdown;
  onClose: () => void;
}

export function EditorForm({ page, onClose }: Props) {
  const { t } = useTranslation();
  const editor = useEditor(page, onClose);
  const [mode, setMode] = useState("write");
  useHotkeys([["mod+S", editor.submit]], []);

  return (
    <section className="page-column editor" aria-label={t("page.edit")}>
      <h1 className="visually-hidden">{page.title || t("page.untitled")}</h1>
      <div className="page-bar">
        <SegmentedControl
          size="xs"
          value={mode}
          onChange={setMode}
          data={[
            { value: "write", label: t("editor.write") },
            { value: "preview", label: t("editor.preview") },
          ]}
        />
        <div className="row">
          {editor.dirty ? (
            <Badge variant="dot" color="yellow">
              {t("editor.unsaved")}
            </Badge>
          ) : null}
          <Button size="compact-sm" variant="default" onClick={onClose}>
            {t("app.cancel")}
          </Button>
          <Button size="compact-sm" loading={editor.saving} onClick={editor.submit}>
            {t("editor.save")}
          </Button>
        </div>
      </div>
      <EditorNotices editor={editor} />
      {editor.conflict ? <ConflictPanel editor={editor} theirs={editor.conflict} /> : null}
      <TextInput
        variant="unstyled"
        aria-label={t("editor.title")}
        placeholder={t("editor.title")}
        className="title-input"
        maxLength={255}
        value={editor.title}
        onChange={(event) => editor.setTitle(event.currentTarget.value)}
      />
      {mode === "preview" ? (
        <Markdown text={editor.markdown} />
      ) : (
        <Textarea
          aria-label={t("editor.text")}
          className="markdown-input"
          autosize
          minRows={18}
          spellCheck
          value={editor.markdown}
          onChange={(event) => editor.setMarkdown(event.currentTarget.value)}
        />
      )}
    </section>
  );
}

function EditorNotices({ editor }: { editor: ReturnType<typeof useEditor> }) {
  const { t, i18n } = useTranslation();
  return (
    <>
      {editor.draft && !editor.conflict ? (
        <div className="callout" data-kind="warning" role="status">
          {t("editor.draft", { when: timeAgo(editor.draft.savedAt, i18n.language) })}{" "}
          {editor.draftStale ? `${t("editor.draftStale")} ` : null}
          <button type="button" className="text-button" onClick={editor.discardDraft}>
            {t("editor.discardDraft")}
          </button>
        </div>
      ) : null}
      {editor.failure ? (
        <Alert color="red" role="alert">
          {t("editor.failed", { message: editor.failure.message })}
        </Alert>
      ) : null}
    </>
  );
}
