"""The model interface: what every driver takes and yields."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from shared.core.errors import PageturnError


class ModelError(PageturnError):
    """The model could not answer."""

    code = "model_error"


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as offered to the model; `schema` is JSON Schema of its arguments."""

    name: str
    description: str
    schema: dict[str, Any]


@dataclass(frozen=True, slots=True)
class UserMessage:
    text: str


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A call as the assistant made it; `arguments` is a JSON object as text."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    text: str
    calls: tuple[ToolRequest, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolMessage:
    """The outcome of one call; every `ToolRequest` is followed by exactly one."""

    call_id: str
    name: str
    content: str
    is_error: bool = False


ModelMessage = UserMessage | AssistantMessage | ToolMessage


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """`messages` ends with what is to be answered; no `tools` means: answer in words."""

    model: str
    system: str
    messages: tuple[ModelMessage, ...]
    tools: tuple[ToolSpec, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class TextPiece:
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningPiece:
    text: str


@dataclass(frozen=True, slots=True)
class CallStart:
    """A tool call begins; `key` tells it from the others of this step."""

    key: int
    name: str


@dataclass(frozen=True, slots=True)
class CallArguments:
    key: int
    text: str


@dataclass(frozen=True, slots=True)
class CallEnd:
    key: int


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of this request."""

    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class Finished:
    """`reason` is stop, length, content-filter, tool-calls or other."""

    reason: str


ModelEvent = TextPiece | ReasoningPiece | CallStart | CallArguments | CallEnd | Usage | Finished


class Model(Protocol):
    """A driver bound to a workspace's settings."""

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Yield the answer as it comes. Raises ModelError."""
        ...
