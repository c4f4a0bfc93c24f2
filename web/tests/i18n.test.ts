import i18next from "i18next";
import { describe, expect, it } from "vitest";
import { preferredLanguage, setLanguage } from "@/shared/i18n";
import { en } from "@/shared/i18n/en";
import { ru } from "@/shared/i18n/ru";
import { timeAgo } from "@/shared/lib/time";
import "./render";

function leaves(tree: object, prefix = ""): [string, string][] {
  return Object.entries(tree).flatMap(([key, value]): [string, string][] =>
    typeof value === "string" ? [[prefix + key, value]] : leaves(value, `${prefix}${key}.`),
  );
}
const withoutPlural = (key: string) => key.replace(/_(one|few|many|other)$/, "");
const variables = (text: string) => [...text.matchAll(/\{\{(\w+)\}\}/g)].map((match) => match[1]);

describe("the two languages (UI-17)", () => {
  it("have the same keys and every form of a plural", () => {
    const keys = (tree: object) => new Set(leaves(tree).map(([key]) => withoutPlural(key)));
    expect(keys(ru)).toEqual(keys(en));
    for (const [key] of leaves(en).filter(([name]) => name.endsWith("_one"))) {
      const forms = leaves(ru).filter(([name]) => withoutPlural(name) === withoutPlural(key));
      expect(forms.map(([name]) => name.split("_").at(-1)).toSorted()).toEqual(["few", "many", "one", "other"]);
    }
  });

  it("fill in the same variables and leave nothing empty", () => {
    const english = new Map(leaves(en));
    for (const [key, text] of leaves(ru)) {
      const base = english.get(key) ?? english.get(`${withoutPlural(key)}_other`) ?? "";
      expect([key, ...variables(text).toSorted()]).toEqual([key, ...variables(base).toSorted()]);
      expect(text.trim()).not.toBe("");
    }
  });

  it("count as their speakers do", () => {
    setLanguage("ru");
    const count = (n: number) => i18next.t("search.results", { count: n });
    expect([1, 2, 5, 21].map(count)).toEqual(["1 результат", "2 результата", "5 результатов", "21 результат"]);
    setLanguage("en");
    expect([1, 2].map(count)).toEqual(["1 result", "2 results"]);
    expect(document.documentElement.lang).toBe("en");
  });

  it("are chosen by the reader, then by the browser", () => {
    expect(preferredLanguage("ru", ["en-US"])).toBe("ru");
    expect(preferredLanguage(null, ["ru-RU", "en"])).toBe("ru");
    expect(preferredLanguage("xx", ["de-DE"])).toBe("en");
  });

  it("tell time in words", () => {
    const now = Date.parse("2026-11-02T12:00:00Z");
    expect(timeAgo("2026-11-02T09:00:00Z", "en", now)).toBe("3 hours ago");
    expect(timeAgo("2026-11-01T12:00:00Z", "ru", now)).toBe("вчера");
    expect(timeAgo("2026-11-02T11:59:50Z", "en", now)).toBe("now");
  });
});
