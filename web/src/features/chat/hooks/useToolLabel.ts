import { useTranslation } from "react-i18next";
import { en } from "@/shared/i18n/en";
import type { ToolView } from "../lib/foldParts";
import { spokenName } from "../lib/tools";

type Known = keyof typeof en.tool.name;

const isKnown = (name: string): name is Known => Object.hasOwn(en.tool.name, name);

/** What the agent does, did or could not do, in words; a tool from elsewhere keeps its own title. */
export function useToolLabel({ name, title, state }: ToolView): string {
  const { t } = useTranslation();
  if (!isKnown(name)) return title ?? spokenName(name);
  const tense = state === "ok" ? "done" : state === "running" ? "running" : "failed";
  return t(`tool.name.${name}.${tense}`);
}
