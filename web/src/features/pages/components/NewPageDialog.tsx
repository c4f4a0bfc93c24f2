import { Alert, Button, Modal, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { useTranslation } from "react-i18next";
import { useNavigate } from "react-router";
import { setNodeOpen } from "@/features/spaces/openNodes";
import { useSpaces } from "@/features/spaces/queries/spaces";
import { messageOf } from "@/shared/ui/States";
import { type NewPagePlace, closeNewPage, useNewPagePlace } from "../newPage";
import { pagePath } from "../pageUrl";
import { useCreatePage } from "../queries/pages";

export function NewPageDialog() {
  const { t } = useTranslation();
  const place = useNewPagePlace();
  return (
    // The page behind may scroll: locking it would need a style element in the document.
    <Modal opened={place !== null} onClose={closeNewPage} title={t("page.newPage")} lockScroll={false}>
      {place === null ? null : <NewPageForm place={place} />}
    </Modal>
  );
}

function NewPageForm({ place }: { place: NewPagePlace }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const create = useCreatePage();
  const { data: spaces } = useSpaces();
  const [title, setTitle] = useState("");

  async function submit(event: FormEvent) {
    event.preventDefault();
    try {
      const page = await create.mutateAsync({ ...place, title: title.trim(), markdown: "" });
      setNodeOpen(place.parentPageId ?? place.spaceId, true);
      closeNewPage();
      const space = spaces?.find((candidate) => candidate.id === place.spaceId);
      if (space) await navigate(`${pagePath(space.slug, page)}?edit=`);
    } catch {
      // Shown below from the mutation's state.
    }
  }

  return (
    <form onSubmit={(event) => void submit(event)} className="stack">
      <TextInput
        label={t("page.newTitle")}
        value={title}
        maxLength={255}
        data-autofocus
        onChange={(event) => setTitle(event.currentTarget.value)}
      />
      {create.isError ? (
        <Alert color="red" role="alert">
          {messageOf(create.error)}
        </Alert>
      ) : null}
      <div className="row end">
        <Button variant="default" onClick={closeNewPage}>
          {t("app.cancel")}
        </Button>
        <Button type="submit" loading={create.isPending} disabled={title.trim() === ""}>
          {t("page.create")}
        </Button>
      </div>
    </form>
  );
}
