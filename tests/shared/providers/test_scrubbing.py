"""What a provider says of a request is shown without the key that was in it."""

import pytest
from pydantic import SecretStr

from shared.providers.scrubbing import without_key

KEY = SecretStr("sk-proj-Ab3dEfGh1jKlMn0pQrStUv")


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Nothing of it is here.", "Nothing of it is here."),
        ("", ""),
        ("Incorrect API key: sk-proj-Ab3dEfGh1jKlMn0pQrStUv.", "Incorrect API key: ***."),
        ("got 'Bearer sk-proj-Ab3dEfGh1jKlMn0pQrStUv'", "got 'Bearer ***'"),
        ("SK-PROJ-AB3DEFGH1JKLMN0PQRSTUV", "***"),
        ("cut: Ab3dEfGh", "cut: ***"),
        ("sk-proj-****************tUv", "*******************tUv"),
        ("the project sk is unknown", "the project sk is unknown"),
        ("twice Ab3dE and rStUv", "twice *** and ***"),
    ],
)
def test_no_part_of_a_key_that_tells_something_is_left(said: str, shown: str) -> None:
    left = without_key(said, KEY)
    assert left == shown
    secret = KEY.get_secret_value().lower()
    assert not any(secret[at : at + 5] in left.lower() for at in range(len(secret) - 4))


@pytest.mark.parametrize("key", [None, SecretStr("")])
def test_without_a_key_the_text_stays(key: SecretStr | None) -> None:
    assert without_key("All of this stays.", key) == "All of this stays."


def test_a_key_shorter_than_a_part_is_hidden_whole() -> None:
    assert without_key("abc and ab", SecretStr("abc")) == "*** and ab"
