import { useTranslation } from "react-i18next";
import { ChatIcon } from "@/shared/ui/icons";
import { messageOf } from "@/shared/ui/States";
import { headingText } from "../headings";
import type { SearchAnswer, SearchHit } from "../types";

interface Props {
  id: string;
  query: string;
  hits: SearchHit[];
  chosen: number;
  answer: SearchAnswer | undefined;
  pending: boolean;
  error: Error | null;
  onChoose: (index: number) => void;
}

export function SearchResults({ id, query, hits, chosen, answer, pending, error, onChoose }: Props) {
  const { t } = useTranslation();
  return (
    <div className="search-results">
      <p className="search-note" role="status">
        {error ? `${t("search.failed")} ${messageOf(error) ?? ""}` : null}
        {!error && pending ? t("app.loading") : null}
        {!error && !pending && hits.length === 0 ? t("search.none", { query }) : null}
        {!error && hits.length > 0 ? t("search.results", { count: hits.length }) : null}
        {!error && answer?.note ? ` · ${t("search.textOnly")}` : null}
      </p>
      <ul role="listbox" id={id} aria-label={t("search.label")}>
        {hits.map((hit, index) => (
          <li
            key={`${hit.url}-${index}`}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === chosen}
            // The input keeps the focus, so that its blur does not close the list first.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => onChoose(index)}
          >
            <span className="hit-title">{hit.title || t("page.untitled")}</span>
            <span className="hit-place">
              {[hit.spaceName, headingText(hit)].filter(Boolean).join(" › ")}
            </span>
            <span className="hit-snippet">{hit.snippet}</span>
          </li>
        ))}
        <li
          id={`${id}-${hits.length}`}
          role="option"
          aria-selected={chosen === hits.length}
          className="hit-ask"
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onChoose(hits.length)}
        >
          <ChatIcon size={16} /> {t("search.ask", { query })}
        </li>
      </ul>
    </div>
  );
}
