import { Button, PasswordInput } from "@mantine/core";
import { useTranslation } from "react-i18next";
import type { Connection } from "../connection";

interface Props {
  connection: Connection;
  error: string | undefined;
  /** Undefined keeps the stored key, "" removes it. */
  onType: (apiKey: string | undefined) => void;
}

/** A key goes in and never comes out: the field says only what is stored. */
export function ApiKeyField({ connection, error, onType }: Props) {
  const { t } = useTranslation();
  const { key, info } = connection;
  if (key === "removed") {
    return (
      <div className="key-removed">
        <p>{t("settings.keyWillGo")}</p>
        <Button size="compact-sm" variant="default" onClick={() => onType(undefined)}>
          {t("settings.keepKey")}
        </Button>
      </div>
    );
  }
  const again = key === "unreadable" || key === "otherOrigin" || key === "changedOrigin";
  const stored = info.apiKeyState !== "none";
  return (
    <div>
      <PasswordInput
        label={t("settings.key")}
        description={again ? undefined : t(info.needsKey ? "settings.keyHint" : "settings.keyOptional")}
        placeholder={key === "set" ? t("settings.keySet") : again ? t("settings.keyAgain") : ""}
        required={info.needsKey && !stored}
        autoComplete="new-password"
        spellCheck={false}
        visibilityToggleButtonProps={{ "aria-label": t("app.showTyped") }}
        error={error ?? (again ? t(`settings.keyNotice.${key}`) : undefined)}
        onChange={(event) => onType(event.currentTarget.value || undefined)}
      />
      {stored ? (
        <button type="button" className="text-button key-remove" onClick={() => onType("")}>
          {t("settings.removeKey")}
        </button>
      ) : null}
    </div>
  );
}
