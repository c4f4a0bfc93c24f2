import { Popover } from "@mantine/core";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { usageTexts } from "../lib/usage";
import type { MessageMetadata } from "../types";

/** The model of an answer; opens to what the answer took. */
export function Usage({ metadata }: { metadata: MessageMetadata }) {
  const { t, i18n } = useTranslation();
  const [open, setOpen] = useState(false);
  const usage = usageTexts(metadata, i18n.language);
  if (usage === null) return null;
  const lines = [
    t("chat.usage", { input: usage.input, output: usage.output, seconds: usage.seconds }),
    ...(usage.context ? [t("chat.usageContext", usage.context)] : []),
    ...(usage.cost ? [t("chat.usageCost", { cost: usage.cost })] : []),
  ];
  return (
    <Popover position="top-start" shadow="md" opened={open} onChange={setOpen}>
      <Popover.Target>
        <button
          type="button"
          className="usage"
          title={open ? undefined : lines.join("\n")}
          onClick={() => setOpen(!open)}
          onBlur={() => setOpen(false)}
          onKeyDown={(event) => {
            if (event.key === "Escape") setOpen(false);
          }}
        >
          {metadata.model ?? t("chat.usageShort")}
        </button>
      </Popover.Target>
      <Popover.Dropdown>
        <ul className="usage-lines">
          {lines.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      </Popover.Dropdown>
    </Popover>
  );
}
