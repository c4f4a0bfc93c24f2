"""Which key is used for which address, and what is missing."""

from uuid import uuid4

import pytest
from pydantic import SecretStr

from shared.core.errors import NotConfiguredError
from shared.core.secrets import SecretBox
from shared.providers.connections import Connection, Purpose, Typed, bound_to, column, describe
from shared.providers.drivers import CHAT_DRIVERS, EMBEDDING_DRIVERS
from shared.providers.models import ProviderCredential

BOX = SecretBox(b"x" * 32)
KEY = "sk-Ab3dEfGh1jKl"


def stored(
    driver: str, *, purpose: Purpose = "chat", key: str | None = KEY, **columns: str | None
) -> ProviderCredential:
    row = ProviderCredential(id=uuid4(), workspace_id=uuid4(), driver=driver)
    for name, value in columns.items():
        setattr(row, column(purpose, name), value)
    if key is not None:
        place = bound_to(row.workspace_id, row.id, purpose)
        setattr(row, column(purpose, "api_key_enc"), BOX.seal(key.encode(), bound_to=place))
    return row


def openai(row: ProviderCredential | None, *, typed: Typed | None = None) -> Connection:
    return describe(
        CHAT_DRIVERS["openai"],
        model="gpt-4o",
        row=row,
        purpose="chat",
        box=BOX,
        typed=typed or Typed(),
    )


OPENAI = "https://api.openai.com:443"


def test_a_key_is_opened_for_the_origin_that_it_was_entered_for() -> None:
    found = openai(stored("openai", api_key_origin=OPENAI))
    assert found.api_key is not None
    assert found.api_key.get_secret_value() == KEY
    assert (found.key_state, found.base_url, found.ready) == (
        "set",
        "https://api.openai.com/v1",
        True,
    )
    assert KEY not in repr(found)


@pytest.mark.parametrize(
    "base_url",
    [
        "http://api.openai.com/v1",
        "https://api.openai.com:8443/v1",
        "https://api.openai.com.example.org/v1",
        "https://example.org/https://api.openai.com/v1",
    ],
)
def test_for_any_other_origin_the_key_is_asked_for_again(base_url: str) -> None:
    found = openai(stored("openai", api_key_origin=OPENAI, base_url=base_url))
    assert (found.api_key, found.key_state, found.missing) == (None, "other-origin", ("apiKey",))
    assert "enter the key again" in found.wanted


def test_another_path_of_the_same_origin_keeps_the_key() -> None:
    row = stored("openai", api_key_origin=OPENAI, base_url="https://api.openai.com/proxy/v2")
    assert openai(row).ready


def test_a_key_moved_to_another_row_or_column_is_unreadable() -> None:
    row = stored("openai", api_key_origin=OPENAI)
    moved = ProviderCredential(
        id=uuid4(),
        workspace_id=row.workspace_id,
        driver="openai",
        api_key_enc=row.api_key_enc,
        api_key_origin=OPENAI,
    )
    found = openai(moved)
    assert (found.api_key, found.key_state, found.missing) == (None, "unreadable", ("apiKey",))


@pytest.mark.req("PV-04")
@pytest.mark.parametrize(
    ("driver", "row", "missing"),
    [
        ("offline", None, ()),
        ("openai", None, ("apiKey",)),
        ("anthropic", None, ("apiKey",)),
        ("gemini", None, ("apiKey",)),
        ("ollama", None, ("baseUrl",)),
        ("openai-compatible", None, ("baseUrl",)),
        ("ollama", stored("ollama", key=None, base_url="http://127.0.0.1:11434/v1"), ()),
    ],
)
def test_each_driver_says_what_it_still_needs(
    driver: str, row: ProviderCredential | None, missing: tuple[str, ...]
) -> None:
    found = describe(CHAT_DRIVERS[driver], model="m", row=row, purpose="chat", box=BOX)
    assert found.missing == missing
    if missing:
        with pytest.raises(NotConfiguredError) as refusal:
            found.require_ready()
        assert refusal.value.details == {"missing": list(missing)}
        assert driver in refusal.value.message
    else:
        found.require_ready()


def test_a_key_that_is_there_but_cannot_be_used_is_asked_for_even_where_none_is_needed() -> None:
    row = stored("ollama", api_key_origin="http://one:80", base_url="http://two/v1")
    found = describe(CHAT_DRIVERS["ollama"], model="m", row=row, purpose="chat", box=BOX)
    assert found.missing == ("apiKey",)


def test_a_model_without_a_name_is_missing_under_its_own_name() -> None:
    chat = describe(CHAT_DRIVERS["openai"], model="", row=None, purpose="chat", box=BOX)
    vectors = describe(
        EMBEDDING_DRIVERS["ollama"], model="", row=None, purpose="embeddings", box=BOX
    )
    assert chat.missing == ("apiKey", "chatModel")
    assert vectors.missing == ("baseUrl", "embeddingModel")


def test_what_is_typed_counts_before_what_is_stored() -> None:
    row = stored("openai", api_key_origin=OPENAI)
    other = openai(row, typed=Typed(base_url="https://gateway.example.org/v1"))
    assert (other.api_key, other.missing) == (None, ("apiKey",))
    both = openai(row, typed=Typed("https://gateway.example.org/v1", SecretStr("sk-other")))
    assert both.ready
    assert both.api_key == SecretStr("sk-other")
    none = openai(row, typed=Typed(api_key=SecretStr("")))
    assert (none.api_key, none.key_state, none.missing) == (None, "none", ("apiKey",))


def test_chat_and_embeddings_have_keys_of_their_own() -> None:
    row = stored(
        "ollama", purpose="embeddings", base_url="http://box/v1", api_key_origin="http://box:80"
    )
    chat = describe(CHAT_DRIVERS["ollama"], model="m", row=row, purpose="chat", box=BOX)
    vectors = describe(
        EMBEDDING_DRIVERS["ollama"], model="m", row=row, purpose="embeddings", box=BOX
    )
    assert (chat.base_url, chat.key_state) == (None, "none")
    assert (vectors.base_url, vectors.key_state) == ("http://box/v1", "set")
