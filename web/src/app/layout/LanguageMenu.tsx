import { Button, Menu } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { LANGUAGES, type Language, setLanguage } from "@/shared/i18n";
import { CheckIcon } from "@/shared/ui/icons";

export function LanguageMenu() {
  const { t, i18n } = useTranslation();
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button
          variant="subtle"
          color="gray"
          size="compact-sm"
          aria-label={`${i18n.language.toUpperCase()}, ${t("app.language")}: ${LANGUAGES[i18n.language as Language]}`}
        >
          {i18n.language.toUpperCase()}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {Object.entries(LANGUAGES).map(([code, name]) => (
          <Menu.Item
            key={code}
            lang={code}
            rightSection={code === i18n.language ? <CheckIcon size={14} /> : null}
            onClick={() => setLanguage(code as Language)}
          >
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
