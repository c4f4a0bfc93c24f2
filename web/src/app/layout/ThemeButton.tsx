import { ActionIcon, useComputedColorScheme, useMantineColorScheme } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { ThemeIcon } from "@/shared/ui/icons";

export function ThemeButton() {
  const { t } = useTranslation();
  const { setColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme("light");
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      aria-label={t("app.theme")}
      title={t("app.theme")}
      onClick={() => setColorScheme(scheme === "dark" ? "light" : "dark")}
    >
      <ThemeIcon />
    </ActionIcon>
  );
}
