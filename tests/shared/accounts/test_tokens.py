"""Tokens between API processes whose clocks are not quite the same."""

from datetime import UTC, datetime, timedelta

import pytest

from shared.accounts.tokens import Claims, decode_token, encode_token, token_key
from shared.core.errors import UnauthenticatedError
from shared.core.ids import new_id

KEY = token_key(b"x" * 32)
CLAIMS = Claims(new_id(), new_id(), new_id())


@pytest.mark.parametrize("skew", [timedelta(minutes=10), timedelta(minutes=-10)])
def test_a_token_of_an_api_whose_clock_is_wrong_is_good_everywhere(skew: timedelta) -> None:
    now = datetime.now(UTC) + skew
    token = encode_token(KEY, CLAIMS, issued_at=now, expires_at=now + timedelta(days=1))
    assert decode_token([KEY], token) == CLAIMS


def test_a_token_ends_with_its_time() -> None:
    now = datetime.now(UTC)
    token = encode_token(KEY, CLAIMS, issued_at=now, expires_at=now - timedelta(seconds=1))
    with pytest.raises(UnauthenticatedError):
        decode_token([KEY], token)
