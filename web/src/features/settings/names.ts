import { useTranslation } from "react-i18next";
import { en } from "@/shared/i18n/en";

type ErrorCode = keyof typeof en.aiError;
type Driver = keyof typeof en.settings.drivers;
type Missing = keyof typeof en.settings.missing;

/** Names and explanations of what the server says in codes; an unknown code is shown as it is. */
export function useNames() {
  const { t } = useTranslation();
  return {
    driver: (name: string) => (name in en.settings.drivers ? t(`settings.drivers.${name as Driver}`) : name),
    missing: (names: string[]) =>
      names
        .map((name) => (name in en.settings.missing ? t(`settings.missing.${name as Missing}`) : name))
        .join(", "),
    /** What an error means and what to do about it. */
    failure: (code: string) => {
      const known: ErrorCode = code in en.aiError ? (code as ErrorCode) : "internal";
      return { title: t(`aiError.${known}.title`), advice: t(`aiError.${known}.advice`) };
    },
  };
}
