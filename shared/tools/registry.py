"""The allowlist: the tools that exist for the agent. A tool not named here is not offered."""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from shared.tools.base import Tool
from shared.tools.editing import EDIT_PAGE_TEXT, UPDATE_PAGE_CONTENT
from shared.tools.pages import CREATE_PAGE, GET_CURRENT_PAGE, GET_PAGE, LIST_PAGES
from shared.tools.search import SEARCH_PAGES

TOOLS: tuple[Tool[Any], ...] = (
    SEARCH_PAGES,
    GET_PAGE,
    GET_CURRENT_PAGE,
    LIST_PAGES,
    CREATE_PAGE,
    EDIT_PAGE_TEXT,
    UPDATE_PAGE_CONTENT,
)


def tools_for(context: str) -> list[Tool[Any]]:
    """The tools of a chat context."""
    return [tool for tool in TOOLS if context in tool.contexts]


@cache
def tool_titles() -> Mapping[str, str]:
    """Each tool's name → what a person reads on its card."""
    return MappingProxyType({tool.name: tool.title for tool in TOOLS})
