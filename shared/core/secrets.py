"""The secret box: AES-256-GCM under keys derived from APP_SECRET.

One scrypt of the application secret a process, then HKDF with a fresh salt per secret;
the associated data binds a sealed value to where it belongs. The key id tells which of the
secrets that a process holds opens a value, so that APP_SECRET can be changed while it runs.
Container: version byte, key id (4 bytes), salt (16), nonce (12), ciphertext and tag.
"""

import hashlib
import os
from functools import lru_cache

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from shared.core.errors import PageturnError

_VERSION = 1
_SALT = 16
_NONCE = 12
_KEY_ID = 4
_HEADER = 1 + _KEY_ID


class UnreadableSecretError(PageturnError):
    """A stored secret cannot be read with this APP_SECRET: enter it again."""

    code = "unreadable_secret"


@lru_cache(maxsize=16)  # the current and the previous secrets of a process
def _master_key(app_secret: bytes) -> bytes:
    return Scrypt(salt=b"pageturn.master.1", length=32, n=2**14, r=8, p=1).derive(app_secret)


def derive_key(app_secret: bytes, purpose: str, salt: bytes | None = None) -> bytes:
    """A 32-byte key for one purpose (HKDF-SHA256, RFC 5869)."""
    kdf = HKDF(algorithm=SHA256(), length=32, salt=salt, info=purpose.encode())
    return kdf.derive(_master_key(app_secret))


def key_id(app_secret: bytes) -> bytes:
    """Names a secret without giving it away: 4 bytes, as in the containers."""
    return hashlib.sha256(b"key-id:" + _master_key(app_secret)).digest()[:_KEY_ID]


class SecretBox:
    """Seals bytes with the current secret and opens what this or a previous one sealed."""

    def __init__(self, app_secret: bytes, *previous: bytes) -> None:
        self._secret = app_secret
        self._by_id = {key_id(secret): secret for secret in (*previous, app_secret)}

    def seal(self, plain: bytes, *, bound_to: str) -> bytes:
        salt, nonce = os.urandom(_SALT), os.urandom(_NONCE)
        key = derive_key(self._secret, "secret-box", salt)
        sealed = AESGCM(key).encrypt(nonce, plain, bound_to.encode())
        return bytes([_VERSION]) + key_id(self._secret) + salt + nonce + sealed

    def open(self, container: bytes, *, bound_to: str) -> bytes:
        """Raises UnreadableSecretError on any foreign or damaged value."""
        if len(container) < _HEADER + _SALT + _NONCE or container[0] != _VERSION:
            raise UnreadableSecretError
        secret = self._by_id.get(container[1:_HEADER])
        if secret is None:
            raise UnreadableSecretError
        salt = container[_HEADER : _HEADER + _SALT]
        nonce = container[_HEADER + _SALT : _HEADER + _SALT + _NONCE]
        key = derive_key(secret, "secret-box", salt)
        try:
            return AESGCM(key).decrypt(
                nonce, container[_HEADER + _SALT + _NONCE :], bound_to.encode()
            )
        except InvalidTag as error:
            raise UnreadableSecretError from error

    def is_current(self, container: bytes) -> bool:
        """Whether it names the current secret as the one that sealed it."""
        return container[1:_HEADER] == key_id(self._secret)
