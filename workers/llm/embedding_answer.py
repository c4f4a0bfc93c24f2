"""Reading a provider's answer to an embeddings request, and believing none of it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from shared.core.tunables import MAX_VECTOR_DIMENSIONS
from workers.llm.embeddings import EmbeddingUnavailableError


@dataclass(frozen=True, slots=True)
class EmbeddingAnswer:
    """Unit vectors in the order of the texts, and the tokens that the provider counted."""

    vectors: list[list[float]]
    tokens: int


def read_answer(content: bytes, count: int) -> EmbeddingAnswer:
    """The vectors of `count` texts: all there, of one dimension, finite, none of zeros.

    Raises EmbeddingUnavailableError (`provider_bad_response`), which quotes nothing of it.
    """
    try:
        answer = orjson.loads(content)
    except orjson.JSONDecodeError:
        raise _bad("something that is no JSON") from None
    rows = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(rows, list) or len(rows) != count:
        given = len(rows) if isinstance(rows, list) else 0
        raise _bad(f"{given} vectors for {count} texts")
    vectors = [_unit(row) for row in _in_order(rows)]
    if len({len(vector) for vector in vectors}) > 1:
        raise _bad("vectors of different lengths")
    return EmbeddingAnswer(vectors, _tokens(answer))


def _in_order(rows: Sequence[Any]) -> list[Mapping[str, Any]]:
    """By `index`, for an answer may come in any order; one without any is taken as it is."""
    if not all(isinstance(row, dict) for row in rows):
        raise _bad("something other than vectors")
    places = [row.get("index") for row in rows]
    if all(place is None for place in places):
        return list(rows)
    by_place = dict(zip(places, rows, strict=True))
    if set(by_place) != set(range(len(rows))):
        raise _bad("vectors that do not say whose they are")
    return [by_place[place] for place in range(len(rows))]


def _unit(row: Mapping[str, Any]) -> list[float]:
    values = row.get("embedding")
    if not isinstance(values, list) or not 0 < len(values) <= MAX_VECTOR_DIMENSIONS:
        raise _bad("something other than vectors")
    if not {type(value) for value in values} <= {float, int}:
        raise _bad("vectors with something other than numbers")
    length = math.hypot(*values)  # neither overflows nor underflows before the result does
    if not math.isfinite(length) or length == 0:
        raise _bad("vectors without a direction")
    return [value / length for value in values]


def _tokens(answer: Mapping[str, Any]) -> int:
    usage = answer.get("usage")
    counted = usage.get("prompt_tokens") if isinstance(usage, dict) else None
    return counted if type(counted) is int and 0 <= counted < 2**31 else 0


def _bad(what: str) -> EmbeddingUnavailableError:
    return EmbeddingUnavailableError(
        f"The embedding provider answered with {what}.", code="provider_bad_response"
    )
