"""What went wrong with one request: what a person is told, and whether another one may help."""

import email.utils
import re
import time
from collections.abc import Mapping
from enum import Enum

import httpx2
from pydantic import SecretStr

from workers.llm.base import ContextTooLongError, ModelError
from workers.llm.error_body import ErrorBody, for_people, read_error


class Again(Enum):
    """Why another request may succeed."""

    NEVER = "never"
    BUSY = "busy"
    NETWORK = "network"
    EMPTY = "empty"


class Fault(Exception):  # noqa: N818 - it becomes an error only if it is the last
    """`error` is what is raised in the end; `body` what the provider said; `after` the seconds
    that it asks to wait."""

    def __init__(
        self,
        error: ModelError,
        again: Again = Again.NEVER,
        *,
        after: float | None = None,
        body: ErrorBody | None = None,
    ) -> None:
        super().__init__(error.code)
        self.error = error
        self.again = again
        self.after = after
        self.body = body


_MESSAGES = {
    "provider_auth": "The provider did not accept the API key",
    "provider_quota": "The provider says that its quota is used up",
    "provider_rate_limit": "The provider asks to slow down",
    "provider_overloaded": "The provider is overloaded",
    "provider_error": "The provider reported an error",
    "model_not_found": "The provider does not know this model",
    "tools_unsupported": "This model cannot use tools",
    "content_filter": "The provider's content filter refused the request",
    "context_too_long": "The conversation is longer than this model can read",
}

_BUSY = frozenset({408, 409, 429, 500, 502, 503, 504, 520, 522, 524, 529})
_PASSING = frozenset({"provider_rate_limit", "provider_overloaded", "provider_error"})

_SPENT = re.compile(
    r"insufficient[_ ](quota|balance|funds|credit)|billing_(hard_limit|not_active)|credit balance"
    r"|exceeded_current_quota|payment required|out of credits"
)
_QUOTA = re.compile(r"\bquota|\bbilling")
_KEY = re.compile(
    r"api[_ ]key[_ ](not[_ ]valid|invalid)|(invalid|incorrect|missing)[_ ]api[_ -]?key"
    r"|authentication_error|unauthenticated"
)
_RATE = re.compile(r"rate[_ ]?limit|too many requests|resource_exhausted")
_OVERLOADED = re.compile(r"overloaded|at capacity|high demand|server is busy")
_TOO_LONG = re.compile(
    r"context[_ ](length|window|size|limit)|maximum (context|prompt|model) length"
    r"|(prompt|input|message|request)s? (is |are |was )?(too long|too large)"
    r"|exceed_context_size|model_max_prompt_tokens_exceeded"
    r"|input (token count|tokens|length).{0,80}exceed|exceeded (model|max) token"
    r"|exceeds (the |its )?(maximum|max|allowed) (number of |input )?(tokens|length)"
    r"|exceeds the (available )?(context|limit of \d)"
    r"|reduce (the|your) (length|prompt|input)|too many (input )?tokens"
    r"|longer than the (model|maximum)|must have less than \d+ tokens"
    r"|tokens in request more than max|request_too_large|too large for model"
    r"|tokens to keep from the initial prompt"
)
_NO_TOOLS = re.compile(
    r"(does not|doesn't|do not|cannot) support (tool|function)|no endpoints found that support tool"
    r"|(tool|function)[ _-]?(use|calls?|calling|choice|s)?`? (is|are) not (supported|enabled)"
    r"|enable-auto-tool-choice|tools? param(eter)? requires --jinja|unsupported.{0,20}['\"`]tools"
)
_FILTER = re.compile(r"content_filter|content management policy|content[_ ]policy[_ ]violation")
_NO_MODEL = re.compile(
    r"model[_ ]not[_ ](found|exist)|not a valid model|(invalid|unknown|unsupported) model"
    r"|model.{0,120}(does not exist|doesn't exist|not exist|not found|is not available)"
)


def of_status(
    status: int | None, body: object, headers: Mapping[str, str], key: SecretStr | None
) -> Fault:
    """A refusal by HTTP status, or (None) an error told inside an answer."""
    found = read_error(body)
    status = status or found.status
    code = _code(status, found)
    after = _retry_after(headers)
    if after is None:
        after = found.delay
    passing = code in _PASSING and (
        status in _BUSY or (status is None and code != "provider_error")
    )
    kind = ContextTooLongError if code == "context_too_long" else ModelError
    return Fault(
        kind(_message(code, status, for_people(found.text, key)), code=code, status=status),
        Again.BUSY if passing else Again.NEVER,
        after=after,
        body=found,
    )


def bad_response(text: str, *, again: Again = Again.NEVER) -> Fault:
    return Fault(ModelError(text, code="provider_bad_response"), again)


def broke_off() -> Fault:
    """The connection ended in the middle of an answer."""
    text = "The connection to the provider broke off before the answer was complete."
    return Fault(ModelError(text, code="provider_network"), Again.NETWORK)


def silence(seconds: float) -> Fault:
    text = f"The provider sent nothing for {seconds:g} seconds."
    return Fault(ModelError(text, code="provider_timeout"))


def of_transport(error: BaseException | None, silence_seconds: float) -> Fault:
    """A request that failed below HTTP."""
    if isinstance(error, httpx2.ReadTimeout | httpx2.WriteTimeout):
        return silence(silence_seconds)
    why = for_people(str(error or ""), None)
    text = "The provider cannot be reached" + (f": {why}." if why else ".")
    return Fault(ModelError(text, code="provider_network"), Again.NETWORK)


def _code(status: int | None, body: ErrorBody) -> str:
    """The error code that a status and what is said with it amount to."""
    said = body.everything
    if status == 402 or _SPENT.search(said):
        return "provider_quota"
    if status in (401, 403) or _KEY.search(said):
        return "provider_auth"
    if status == 429 or (status is None and _RATE.search(said)):
        # Google speaks of quota and billing where it only asks to wait, but says how long.
        spent = body.delay is None and _QUOTA.search(said)
        return "provider_quota" if spent else "provider_rate_limit"
    if status in (503, 529) or _OVERLOADED.search(said):
        return "provider_overloaded"
    if status == 413 or _TOO_LONG.search(said):
        return "context_too_long"
    if _NO_TOOLS.search(said):
        return "tools_unsupported"
    if _FILTER.search(said):
        return "content_filter"
    if _NO_MODEL.search(said) or (status == 404 and "model" in said):
        return "model_not_found"
    return "provider_error"


def _message(code: str, status: int | None, words: str) -> str:
    number = "" if status is None else f" ({status})"
    if status is not None and 300 <= status < 400:
        words = "it redirects to another address, which Pageturn does not follow"
    elif code == "provider_error" and status == 404:
        words = f"{(words or 'Not found').rstrip('.')}. Is the base URL right?"
    return f"{_MESSAGES[code]}{number}" + (f": {words}" if words else ".")


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds; the header carries them or a date (RFC 9110, 10.2.3), OpenAI also milliseconds."""
    milliseconds, value = headers.get("retry-after-ms", ""), headers.get("retry-after", "")
    for text, divisor in ((milliseconds, 1000), (value, 1)):
        try:
            seconds = float(text) / divisor
        except ValueError:
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    try:
        at = email.utils.parsedate_to_datetime(value).timestamp()
    except (ValueError, OverflowError):
        return None
    return max(0.0, at - time.time())
