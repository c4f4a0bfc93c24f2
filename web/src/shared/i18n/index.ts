import i18next from "i18next";
import { initReactI18next } from "react-i18next";
import { readStored, writeStored } from "@/shared/lib/storage";
import { en } from "./en";
import { ru } from "./ru";

export const LANGUAGES = { en: "English", ru: "Русский" } as const;
export type Language = keyof typeof LANGUAGES;

const STORED = "pageturn.language";

declare module "i18next" {
  interface CustomTypeOptions {
    defaultNS: "translation";
    resources: { translation: typeof en };
  }
}

export function preferredLanguage(stored: string | null, browser: readonly string[]): Language {
  for (const wanted of [stored, ...browser]) {
    const language = wanted?.slice(0, 2).toLowerCase();
    if (language === "en" || language === "ru") return language;
  }
  return "en";
}

export function setLanguage(language: Language): void {
  writeStored(localStorage, STORED, language);
  document.documentElement.lang = language;
  void i18next.changeLanguage(language);
}

export function startI18n(): void {
  const language = preferredLanguage(readStored<string>(localStorage, STORED), navigator.languages);
  document.documentElement.lang = language;
  void i18next.use(initReactI18next).init({
    lng: language,
    fallbackLng: "en",
    resources: { en: { translation: en }, ru: { translation: ru } },
    // React escapes what it renders.
    interpolation: { escapeValue: false },
    initAsync: false,
  });
}
