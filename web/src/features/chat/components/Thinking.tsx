import { Loader } from "@mantine/core";
import { useTranslation } from "react-i18next";

export function Thinking() {
  const { t } = useTranslation();
  return (
    <div className="thinking">
      <Loader type="dots" size="sm" aria-hidden="true" />
      <span>{t("chat.thinking")}</span>
    </div>
  );
}
