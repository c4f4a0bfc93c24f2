import { Loader, TextInput } from "@mantine/core";
import { useDebouncedValue, useHotkeys } from "@mantine/hooks";
import { type FocusEvent, type KeyboardEvent, useId, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { useNavigate } from "react-router";
import { askInChat } from "@/features/chat/chatUi";
import { classifyLink } from "@/shared/lib/links";
import { SearchIcon } from "@/shared/ui/icons";
import { useSearch } from "../queries/search";
import { SearchResults } from "./SearchResults";

const DEBOUNCE_MS = 200;

export function SearchBox() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const listId = useId();
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState("");
  const [open, setOpen] = useState(false);
  const [chosen, setChosen] = useState(0);
  const [query] = useDebouncedValue(text, DEBOUNCE_MS);
  const search = useSearch(query);
  const hits = query.trim() === "" ? [] : (search.data?.items ?? []);
  const shown = open && query.trim() !== "";
  useHotkeys([["mod+K", () => input.current?.focus()]], []);

  function close() {
    setOpen(false);
    setText("");
    input.current?.blur();
  }

  /** The row after the last hit asks the agent. */
  function choose(index: number) {
    const hit = hits[index];
    if (hit === undefined) askInChat(text.trim());
    else {
      const link = classifyLink(hit.url, window.location.origin);
      if (link.kind === "internal") void navigate(link.to);
    }
    close();
  }

  function onKeyDown(event: KeyboardEvent) {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Escape") close();
    if (!shown) return;
    const rows = hits.length + 1;
    if (event.key === "ArrowDown") setChosen((chosen + 1) % rows);
    else if (event.key === "ArrowUp") setChosen((chosen + rows - 1) % rows);
    else if (event.key === "Enter" && text === query) choose(chosen);
    else return;
    event.preventDefault();
  }

  function onBlur(event: FocusEvent<HTMLDivElement>) {
    if (!event.currentTarget.contains(event.relatedTarget)) setOpen(false);
  }

  return (
    <div className="search" role="search" onBlur={onBlur} onFocus={() => setOpen(true)}>
      <TextInput
        ref={input}
        role="combobox"
        aria-label={t("search.label")}
        aria-expanded={shown}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={shown ? `${listId}-${chosen}` : undefined}
        placeholder={t("search.placeholder")}
        leftSection={<SearchIcon size={16} />}
        rightSection={<End empty={text === ""} busy={shown && search.isFetching} />}
        rightSectionWidth="auto"
        rightSectionPointerEvents="none"
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value);
          setChosen(0);
          setOpen(true);
        }}
        onKeyDown={onKeyDown}
      />
      {shown ? (
        <SearchResults
          id={listId}
          query={query.trim()}
          hits={hits}
          chosen={chosen}
          answer={search.data}
          pending={search.isPending}
          error={search.error}
          onChoose={choose}
        />
      ) : null}
    </div>
  );
}

function End({ empty, busy }: { empty: boolean; busy: boolean }) {
  if (busy) return <Loader size={14} className="search-end" />;
  if (!empty) return null;
  return (
    <kbd className="search-end search-keys" aria-hidden="true">
      Ctrl K
    </kbd>
  );
}
