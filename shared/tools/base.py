"""What a tool is: a description and a schema for the model, and a function for us.

A tool calls the same services as the HTTP endpoints, as the person who asked. Workspace,
user and session are never its arguments; they come in the context.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar
from uuid import UUID

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel
from sqlalchemy.ext.asyncio import AsyncSession

from shared.accounts.actor import Actor
from shared.search.vectors import QueryVector

# A remote call leaves for another system, whose effects no transaction of ours can take back.
Effect = Literal["read", "write", "remote"]


class ToolArgs(BaseModel):
    """A tool's arguments: camelCase to the model. Unknown ones are dropped, so that a
    model cannot reach past the schema (`permanentlyDelete: true`)."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="ignore")


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a call runs with. `vector` is that of the tool's `query`; None without a model."""

    transaction: AsyncSession | None
    actor: Actor
    page_id: UUID | None
    vector: QueryVector | None = None

    @property
    def session(self) -> AsyncSession:
        """The transaction of the call; a remote one has none."""
        assert self.transaction is not None, "a remote call holds no transaction"
        return self.transaction


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What the model and the reader see, and how to undo a write."""

    output: dict[str, Any]
    inverse: dict[str, Any] | None = None


ArgsT = TypeVar("ArgsT", bound=ToolArgs)


@dataclass(frozen=True, slots=True)
class Tool(Generic[ArgsT]):
    """`effect` decides the transaction: a write shares one with its stored result, a remote
    call has none. One that may have been made is made again only if it is `idempotent`. `query`
    names the text whose vector the call needs: a model is asked for it before the transaction
    begins, for it may take its time."""

    name: str
    title: str
    description: str
    args: type[ArgsT]
    run: Callable[[ToolContext, ArgsT], Awaitable[ToolResult]]
    effect: Effect = "read"
    idempotent: bool = False
    contexts: frozenset[str] = field(default=frozenset({"tenant"}))
    query: Callable[[ArgsT], str] | None = None

    def schema(self) -> dict[str, Any]:
        """The arguments as JSON Schema, in the model's names."""
        schema = self.args.model_json_schema(by_alias=True)
        definitions = schema.pop("$defs", {})
        schema = {name: _without_references(part, definitions) for name, part in schema.items()}
        schema.pop("title", None)
        schema.pop("description", None)
        schema["additionalProperties"] = False
        return schema


def _without_references(schema: Any, definitions: dict[str, Any]) -> Any:
    """The schema with each definition where it is used: not every provider follows `$ref`."""
    if isinstance(schema, list):
        return [_without_references(item, definitions) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _without_references(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    return {key: _without_references(value, definitions) for key, value in schema.items()}
