"""Password hashes (argon2id), made and checked off the event loop."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

from pwdlib import PasswordHash
from pwdlib.exceptions import PwdlibError
from pwdlib.hashers.argon2 import Argon2Hasher

from shared.accounts.errors import WeakPasswordError
from shared.core.tunables import MIN_PASSWORD_CHARS, PASSWORD_THREADS

_hasher = PasswordHash((Argon2Hasher(),))
_executor = ThreadPoolExecutor(max_workers=PASSWORD_THREADS, thread_name_prefix="password")


@lru_cache(maxsize=1)
def _unusable_hash() -> str:
    return _hasher.hash("no account has this password")


def _verify(password: str, stored: str | None) -> bool:
    try:
        matches = _hasher.verify(password, stored or _unusable_hash())
    except PwdlibError:
        return False
    return matches and stored is not None


async def hash_password(password: str) -> str:
    """Raises WeakPasswordError for fewer than 8 characters."""
    if len(password) < MIN_PASSWORD_CHARS:
        raise WeakPasswordError
    return await asyncio.get_running_loop().run_in_executor(_executor, _hasher.hash, password)


async def verify_password(password: str, stored: str | None) -> bool:
    """Takes as long for no account, and for one without a password, as for a wrong one."""
    return await asyncio.get_running_loop().run_in_executor(_executor, _verify, password, stored)
