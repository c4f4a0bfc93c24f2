import { useTranslation } from "react-i18next";
import { en } from "@/shared/i18n/en";
import { type ChatError, isForAdmins } from "../lib/chatErrors";

type Setting = keyof typeof en.chatError.setting;

const isSetting = (name: string): name is Setting => Object.hasOwn(en.chatError.setting, name);

export interface FailureTexts {
  title: string;
  /** What can be done, and by whom. */
  advice: string;
  /** Which settings are still empty. */
  missing: string | null;
  /** The server's own words, where they add to ours. */
  detail: string | null;
}

export function useFailureTexts(failure: ChatError, isAdmin: boolean): FailureTexts {
  const { t } = useTranslation();
  const { kind, missing, text, retry } = failure;
  const names = missing.map((name) => (isSetting(name) ? t(`chatError.setting.${name}`) : name));
  const advice = t(`chatError.${kind}.advice`);
  const fromProvider = retry === "regenerate" || kind === "answer";
  return {
    title: t(`chatError.${kind}.title`),
    advice: isForAdmins(kind) && !isAdmin ? `${advice} ${t("chatError.askAdmin")}` : advice,
    missing: names.length === 0 ? null : t("chatError.missing", { names: names.join(", ") }),
    detail: fromProvider && text ? text : null,
  };
}
