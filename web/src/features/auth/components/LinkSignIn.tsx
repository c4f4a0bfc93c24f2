import { Alert, Button, Loader } from "@mantine/core";
import { useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";
import { messageOf } from "@/shared/ui/States";
import { ApiError } from "@/shared/api/errors";
import { useSignInLink } from "../queries/session";

interface Props {
  token: string;
  /** The link was used, or the reader turned to the password instead. */
  onDone: () => void;
}

export function LinkSignIn({ token, onDone }: Props) {
  const { t } = useTranslation();
  const { mutate, isError, error } = useSignInLink();
  const sent = useRef("");
  useEffect(() => {
    // A link works once: a second request for the same token would fail.
    if (sent.current === token) return;
    sent.current = token;
    mutate(token, { onSuccess: onDone });
  }, [token, mutate, onDone]);

  if (!isError) {
    return (
      <p role="status" className="row">
        <Loader size="sm" /> {t("auth.linkWorking")}
      </p>
    );
  }
  const network = error instanceof ApiError && error.code === "network";
  return (
    <>
      <Alert color="red" role="alert" title={network ? t("app.offline") : t("auth.linkFailed")}>
        {network ? messageOf(error) : t("auth.linkHint")}
      </Alert>
      {network ? (
        <Button onClick={() => mutate(token, { onSuccess: onDone })}>{t("app.retry")}</Button>
      ) : null}
      <Button variant="light" onClick={onDone}>
        {t("auth.usePassword")}
      </Button>
    </>
  );
}
