"""The secret box: what is sealed is read by who holds its secret, and by nobody else."""

import pytest

from shared.core.errors import ConfigurationError
from shared.core.secrets import SecretBox, UnreadableSecretError
from shared.core.settings import Settings

OLD, NEW, OTHER = b"old-" * 8, b"new-" * 8, b"other" * 8
PLAIN, PLACE = b"sk-canary-4711", "workspace:row:column"


@pytest.mark.req("PV-07")
def test_one_text_sealed_twice_gives_two_values_that_both_open() -> None:
    box = SecretBox(OLD)
    first, second = (box.seal(PLAIN, bound_to=PLACE) for _ in range(2))
    assert first != second
    # Neither the salt nor the nonce nor what is sealed comes twice; version and key id do.
    assert first[:5] == second[:5]
    assert not {first[5:21], first[21:33], first[33:]} & {second[5:21], second[21:33], second[33:]}
    assert PLAIN not in first
    assert [box.open(value, bound_to=PLACE) for value in (first, second)] == [PLAIN, PLAIN]


@pytest.mark.req("PV-07")
def test_a_value_with_any_byte_changed_is_unreadable() -> None:
    box = SecretBox(OLD)
    value = box.seal(PLAIN, bound_to=PLACE)
    for index in range(len(value)):
        damaged = bytearray(value)
        damaged[index] ^= 0x01
        with pytest.raises(UnreadableSecretError):
            box.open(bytes(damaged), bound_to=PLACE)


@pytest.mark.req("PV-07")
def test_a_value_cut_short_or_lengthened_or_foreign_is_unreadable() -> None:
    box = SecretBox(OLD)
    value = box.seal(PLAIN, bound_to=PLACE)
    for damaged in (*(value[:length] for length in range(len(value))), value + b"\0", b"x" * 80):
        with pytest.raises(UnreadableSecretError):
            box.open(damaged, bound_to=PLACE)


@pytest.mark.req("PV-07")
def test_a_value_moved_to_another_place_or_read_with_another_secret_is_unreadable() -> None:
    value = SecretBox(OLD).seal(PLAIN, bound_to=PLACE)
    with pytest.raises(UnreadableSecretError, match="enter it again"):
        SecretBox(OLD).open(value, bound_to="workspace:row:other")
    with pytest.raises(UnreadableSecretError, match="enter it again"):
        SecretBox(OTHER).open(value, bound_to=PLACE)


def test_the_current_secret_seals_and_every_held_one_opens() -> None:
    old, both, new = SecretBox(OLD), SecretBox(NEW, OLD), SecretBox(NEW)
    before = old.seal(PLAIN, bound_to=PLACE)
    assert both.open(before, bound_to=PLACE) == PLAIN
    assert not both.is_current(before)
    after = both.seal(both.open(before, bound_to=PLACE), bound_to=PLACE)
    assert both.is_current(after)
    assert new.open(after, bound_to=PLACE) == PLAIN
    for box, value in ((old, after), (new, before)):
        with pytest.raises(UnreadableSecretError):
            box.open(value, bound_to=PLACE)


def test_a_new_secret_is_first_held_then_promoted_and_both_kinds_of_process_read_all() -> None:
    added, promoted = SecretBox(OLD, NEW), SecretBox(NEW, OLD)
    for writer in (added, promoted):
        value = writer.seal(PLAIN, bound_to=PLACE)
        assert added.open(value, bound_to=PLACE) == promoted.open(value, bound_to=PLACE) == PLAIN


def settings(current: bytes, previous: str) -> Settings:
    return Settings.model_validate(
        {"APP_SECRET": current.decode(), "APP_SECRET_PREVIOUS": previous}
    )


def test_previous_secrets_are_read_from_a_list_with_commas() -> None:
    listed = f" {OLD.decode()} , {OTHER.decode()},,{NEW.decode()},{OLD.decode()}"
    assert settings(NEW, listed).require_app_secrets() == (NEW, OLD, OTHER)
    assert settings(NEW, "").require_app_secrets() == (NEW,)
    assert settings(NEW, listed).require_app_secret() == NEW
    assert OLD.decode() not in repr(settings(NEW, listed))


def test_a_short_previous_secret_is_refused_by_its_name_alone() -> None:
    with pytest.raises(ConfigurationError, match="APP_SECRET_PREVIOUS") as caught:
        settings(NEW, f"{OLD.decode()},shortish").require_app_secrets()
    assert "shortish" not in str(caught.value)
