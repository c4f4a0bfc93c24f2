"""What every wire shape has in common, and the shape of an error."""

from typing import Any

from pydantic import BaseModel, ConfigDict, field_validator
from pydantic.alias_generators import to_camel


class ApiModel(BaseModel):
    """camelCase on the wire; unknown fields and NUL characters are refused.

    Half surrogate pairs are refused by pydantic itself. Strings inside free JSON (a
    document, a message's parts) are for their own checks.
    """

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid")

    @field_validator("*", mode="after")
    @classmethod
    def _no_nul(cls, value: Any) -> Any:
        if isinstance(value, str) and "\0" in value:
            raise ValueError("must not contain NUL characters")
        return value


class ErrorBody(BaseModel):
    """Every answer that is not 2xx. `error` is a code for programs, `message` for people."""

    error: str
    message: str
    details: Any = None


class FaultDetail(BaseModel):
    """One fault of a refused request: where, and what."""

    path: str
    message: str
