"""The model interface: what every driver takes and yields."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any, Protocol

from shared.core.errors import PageturnError


class ModelError(PageturnError):
    """The model could not answer.

    Its text is for people: short, and without a word of what was sent. `code` is one of the
    error codes that people and the web app know (`provider_auth`, `provider_quota`,
    `provider_rate_limit`, `provider_overloaded`, `provider_error`, `provider_timeout`,
    `provider_network`, `provider_bad_response`, `context_too_long`, `model_not_found`,
    `tools_unsupported`, `content_filter`, `not_configured`); `status` is the HTTP status where
    there was one.
    """

    code = "provider_error"

    def __init__(
        self, message: str | None = None, *, code: str | None = None, status: int | None = None
    ) -> None:
        super().__init__(message)
        self.code = code or type(self).code
        self.status = status


class ContextTooLongError(ModelError):
    """The conversation is longer than this model can read."""

    code = "context_too_long"


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
    """A call as the assistant made it; `arguments` is a JSON object as text, `extra` what the
    provider sent along with it and wants to see again."""

    id: str
    name: str
    arguments: str
    extra: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """`reasoning` is what the model thought in a step of the running turn, under the field in
    which it came; a driver echoes it where its provider needs that."""

    text: str
    calls: tuple[ToolRequest, ...] = ()
    reasoning: str = ""
    reasoning_field: str = ""


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
    """`messages` ends with what is to be answered; no `tools` means: answer in words.

    `max_output_tokens` bounds short answers (a title); None: the provider's own bound, for a
    bound of ours would cut a tool call's arguments.
    """

    model: str
    system: str
    messages: tuple[ModelMessage, ...]
    tools: tuple[ToolSpec, ...] = field(default=())
    max_output_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class TextPiece:
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningPiece:
    """A piece of the model's thoughts; `field` is the wire's name for them."""

    text: str
    field: str = ""


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
    """The call is whole; `extra` is what the provider wants to see again with it."""

    key: int
    extra: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of this request; the last one of a stream counts."""

    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class Finished:
    """`reason` is stop, length, content-filter, tool-calls or other."""

    reason: str


ModelEvent = TextPiece | ReasoningPiece | CallStart | CallArguments | CallEnd | Usage | Finished


class Model(Protocol):
    """A driver bound to a workspace's settings.

    It retries by itself while nothing has been yielded; what it yields is never withdrawn.
    """

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Yield the answer as it comes. Raises ModelError."""
        ...
