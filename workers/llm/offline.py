"""The offline answerer: no model; it searches, reads and quotes.

It is a driver like every other: it sees the conversation and the tools, asks for
`searchPages`, then for `getPage` of the best hits, then says what it found, each quotation
with a link to its passage.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from typing import Any

import orjson

from shared.core.tunables import (
    OFFLINE_PAGES,
    OFFLINE_WORDS_PER_PIECE,
)
from workers.llm.base import (
    AssistantMessage,
    CallArguments,
    CallEnd,
    CallStart,
    Finished,
    ModelEvent,
    ModelMessage,
    ModelRequest,
    TextPiece,
    ToolMessage,
    Usage,
    UserMessage,
)
from workers.llm.quoting import PageText, Quote, choose_quotes, is_russian

_TEXTS = {
    "en": {
        "intro": "I am quoting your pages, not writing: no language model is connected.",
        "none": "No language model is connected, and I found no page of yours that matches. "
        "Try other words, or ask for access to the space that holds the answer.",
        "unread": "I found pages, but could not read them.",
        "no_tools": "No language model is connected, and I may not search here.",
    },
    "ru": {
        "intro": "Я цитирую ваши страницы, а не пишу сам: языковая модель не подключена.",
        "none": "Языковая модель не подключена, и подходящей страницы среди доступных вам "
        "я не нашёл. Попробуйте другие слова или попросите доступ к нужному пространству.",
        "unread": "Страницы нашлись, но прочитать их не удалось.",
        "no_tools": "Языковая модель не подключена, и искать здесь мне нельзя.",
    },
}


class OfflineModel:
    """`piece_seconds` is the pause between pieces of text, so that they can be read."""

    def __init__(self, *, piece_seconds: float) -> None:
        self._pause = piece_seconds

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        question, since = _last_exchange(request.messages)
        words = _TEXTS["ru" if is_russian(question) else "en"]
        results = [m for m in since if isinstance(m, ToolMessage)]
        searched = _outputs(results, "searchPages")
        read = [m for m in results if m.name == "getPage"]
        offered = {tool.name for tool in request.tools}
        hits = searched[-1].get("hits", []) if searched else []

        if not results and "searchPages" not in offered:
            text = words["no_tools"]
        elif not results:
            for event in _calls("searchPages", [{"query": question[:1000], "limit": 5}]):
                yield event
            yield Finished("tool-calls")
            return
        elif not hits:
            text = words["none"]
        elif not read and "getPage" in offered:
            wanted = [{"pageId": hit["pageId"], "blockIds": True} for hit in hits[:OFFLINE_PAGES]]
            for event in _calls("getPage", wanted):
                yield event
            yield Finished("tool-calls")
            return
        else:
            pages = [PageText.parse(output, hits) for output in _outputs(read, "getPage")]
            quotes = choose_quotes(question, pages)
            text = _answer(words["intro"], quotes) if quotes else words["unread"]

        for piece in _pieces(text):
            yield TextPiece(piece)
            await asyncio.sleep(self._pause)
        yield Usage(input_tokens=0, output_tokens=0)
        yield Finished("stop")


def _last_exchange(messages: tuple[ModelMessage, ...]) -> tuple[str, list[ModelMessage]]:
    """The last question, and what has happened since."""
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if isinstance(message, UserMessage):
            return message.text, list(messages[index + 1 :])
    return "", [m for m in messages if not isinstance(m, AssistantMessage)]


def _outputs(results: list[ToolMessage], name: str) -> list[dict[str, Any]]:
    """The outputs of the calls of one tool that went well."""
    return [orjson.loads(m.content) for m in results if m.name == name and not m.is_error]


def _calls(name: str, arguments: list[dict[str, Any]]) -> Iterator[ModelEvent]:
    for key, args in enumerate(arguments):
        yield CallStart(key, name)
        yield CallArguments(key, orjson.dumps(args).decode())
        yield CallEnd(key)


def _answer(intro: str, quotes: list[Quote]) -> str:
    blocks = [intro]
    for quote in quotes:
        label = quote.title.replace("[", "(").replace("]", ")")
        blocks.append(f"> {quote.text}\n>\n> — [{label}]({quote.url})")
    return "\n\n".join(blocks)


def _pieces(text: str) -> Iterator[str]:
    """The text in pieces of a few words; joined, they are the text."""
    words = text.split(" ")
    for start in range(0, len(words), OFFLINE_WORDS_PER_PIECE):
        piece = " ".join(words[start : start + OFFLINE_WORDS_PER_PIECE])
        last = start + OFFLINE_WORDS_PER_PIECE >= len(words)
        yield piece if last else piece + " "
