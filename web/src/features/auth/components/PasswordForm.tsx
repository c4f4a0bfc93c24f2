import { Alert, Button, PasswordInput, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { useTranslation } from "react-i18next";
import { ApiError } from "@/shared/api/errors";
import { messageOf } from "@/shared/ui/States";
import { useSignIn } from "../queries/session";

export function PasswordForm() {
  const { t } = useTranslation();
  const signIn = useSignIn();
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");

  function submit(event: FormEvent) {
    event.preventDefault();
    signIn.mutate({ email: email.trim(), password });
  }

  function failure(error: Error) {
    const status = error instanceof ApiError ? error.status : -1;
    if (status === 401) return t("auth.wrong");
    if (status === 429) return t("auth.tooMany");
    return status === 0 ? t("app.offline") : messageOf(error);
  }

  return (
    <form onSubmit={submit} className="stack">
      <TextInput
        label={t("auth.email")}
        type="email"
        autoComplete="username"
        autoFocus
        required
        withAsterisk={false}
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      <PasswordInput
        label={t("auth.password")}
        autoComplete="current-password"
        visibilityToggleButtonProps={{ "aria-label": t("app.showTyped") }}
        required
        withAsterisk={false}
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
      />
      {signIn.isError ? (
        <Alert color="red" role="alert">
          {failure(signIn.error)}
        </Alert>
      ) : null}
      <Button type="submit" loading={signIn.isPending}>
        {t("auth.submit")}
      </Button>
    </form>
  );
}
