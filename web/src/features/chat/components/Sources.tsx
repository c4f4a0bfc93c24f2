import { useTranslation } from "react-i18next";
import { SafeLink } from "@/shared/ui/SafeLink";
import { PageIcon } from "@/shared/ui/icons";
import type { SourceView } from "../lib/foldParts";

/** The pages that an answer rests on; each opens at the block it was taken from. */
export function Sources({ sources }: { sources: SourceView[] }) {
  const { t } = useTranslation();
  if (sources.length === 0) return null;
  return (
    <section className="sources" aria-label={t("chat.sources")}>
      <p className="sources-title">{t("chat.sources")}</p>
      <ol>
        {sources.map((source) => (
          <li key={source.url}>
            <SafeLink href={source.url}>
              <PageIcon size={14} />
              <span>{source.title}</span>
            </SafeLink>
          </li>
        ))}
      </ol>
    </section>
  );
}
