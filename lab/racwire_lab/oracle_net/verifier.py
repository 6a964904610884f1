"""Password verifiers, and the exchange that proves a password without sending it in the clear.

All encryption is AES in CBC mode with an initialization vector of zeros. Binary values are sent as upper-case
hexadecimal digits.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field
from typing import Literal

import msgspec
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

Kind = Literal["12c", "11g"]
_NUMBERS: dict[Kind, int] = {"12c": 0x4815, "11g": 0x1B25}
_DERIVATIONS = 3
_MAX_VGEN_COUNT = 100_000
_BLOCK = 16


@dataclass(frozen=True)
class Verifier:
    """A salt, and a key made of the salt and the password. It can check the password but not reveal it."""

    kind: Kind
    salt: bytes
    key: bytes = field(repr=False)
    vgen_count: int = 4096
    """Rounds of PBKDF2 (12c only)."""

    @classmethod
    def of(cls, password: str, kind: Kind = "12c", vgen_count: int = 4096) -> Verifier:
        """Return a new verifier of this password."""
        salt = secrets.token_bytes(16 if kind == "12c" else 10)
        return cls(kind, salt, _key(kind, salt, vgen_count, password.encode()), vgen_count)

    @classmethod
    def unmatchable(cls) -> Verifier:
        """Return a verifier that matches no password: unknown users get the same answers as known ones."""
        return cls("12c", secrets.token_bytes(16), secrets.token_bytes(32))

    def fits(self, password: bytes) -> bool:
        """Whether this verifier was made of the password. A wrong password takes the same time."""
        return hmac.compare_digest(self.key, _key(self.kind, self.salt, self.vgen_count, password))

    def to_json(self) -> str:
        """Return the verifier as JSON, for a file."""
        return msgspec.json.encode(self).decode()

    @classmethod
    def from_json(cls, text: str | bytes) -> Verifier:
        """Return the verifier from its JSON. Raises ValueError when the JSON is not a valid verifier."""
        try:
            verifier = msgspec.json.decode(text, type=cls)
        except msgspec.MsgspecError as error:
            raise ValueError(f"This is not a password verifier: {error}") from None
        sizes = {"12c": (16, 32), "11g": (10, 24)}
        if (len(verifier.salt), len(verifier.key)) != sizes[verifier.kind]:
            raise ValueError("This is not a password verifier: its salt or its key has the wrong length.")
        if not 1 <= verifier.vgen_count <= _MAX_VGEN_COUNT:
            raise ValueError(f"This is not a password verifier: vgen_count must be 1 to {_MAX_VGEN_COUNT}.")
        return verifier


class Challenge:
    """One exchange: the server sends its part of a session key, and checks the client's answer."""

    def __init__(self, verifier: Verifier) -> None:
        self._verifier = verifier
        is_12c = verifier.kind == "12c"
        # The 11g part is padded, which some clients check; python-oracledb does not.
        self._part = secrets.token_bytes(32) if is_12c else secrets.token_bytes(40) + b"\x08" * 8
        self._mixing_salt = secrets.token_bytes(16)

    def pairs(self) -> list[tuple[str, str, int]]:
        """Return the keys, values and flags of the first answer of a logon."""
        verifier = self._verifier
        pairs = [
            ("AUTH_SESSKEY", _hex(_encrypt(verifier.key, self._part)), 0),
            ("AUTH_VFR_DATA", _hex(verifier.salt), _NUMBERS[verifier.kind]),
        ]
        if verifier.kind == "12c":
            pairs += [
                ("AUTH_PBKDF2_CSK_SALT", _hex(self._mixing_salt), 0),
                ("AUTH_PBKDF2_VGEN_COUNT", str(verifier.vgen_count), 0),
                ("AUTH_PBKDF2_SDER_COUNT", str(_DERIVATIONS), 0),
            ]
        return pairs

    def answer(self, client_part: str, password: str) -> str | None:
        """Check the client's AUTH_SESSKEY and AUTH_PASSWORD.

        Return the AUTH_SVR_RESPONSE, which proves that the server knows the key too; None when the password is wrong.
        """
        try:
            session_key = self._session_key(_decrypt(self._verifier.key, bytes.fromhex(client_part)))
            clear = _unpad(_decrypt(session_key, bytes.fromhex(password)))[_BLOCK:]
        except ValueError:
            # Data that cannot be decrypted was encrypted with the key of another password.
            return None
        if not self._verifier.fits(clear):
            return None
        return _hex(_encrypt(session_key, _pad(secrets.token_bytes(_BLOCK) + b"SERVER_TO_CLIENT")))

    def _session_key(self, client_part: bytes) -> bytes:
        if self._verifier.kind == "12c":
            if len(client_part) < 32:
                raise ValueError("a session key that is too short")
            mix = _hex(client_part[:32] + self._part)
            return hashlib.pbkdf2_hmac("sha512", mix.encode(), self._mixing_salt, _DERIVATIONS, 32)
        if len(client_part) < 40:
            raise ValueError("a session key that is too short")
        mixed = bytes(own ^ other for own, other in zip(self._part[16:40], client_part[16:40], strict=True))
        return (_md5(mixed[:16]) + _md5(mixed[16:]))[:24]


def _key(kind: Kind, salt: bytes, vgen_count: int, password: bytes) -> bytes:
    if kind == "12c":
        slow = hashlib.pbkdf2_hmac("sha512", password, salt + b"AUTH_PBKDF2_SPEEDY_KEY", vgen_count, 64)
        return hashlib.sha512(slow + salt).digest()[:32]
    return hashlib.sha1(password + salt, usedforsecurity=False).digest() + bytes(4)


def _md5(data: bytes) -> bytes:
    return hashlib.md5(data, usedforsecurity=False).digest()


def _cipher(key: bytes) -> Cipher[modes.CBC]:
    return Cipher(algorithms.AES(key), modes.CBC(bytes(_BLOCK)))


def _encrypt(key: bytes, data: bytes) -> bytes:
    step = _cipher(key).encryptor()
    return step.update(data) + step.finalize()


def _decrypt(key: bytes, data: bytes) -> bytes:
    step = _cipher(key).decryptor()
    return step.update(data) + step.finalize()


def _pad(data: bytes) -> bytes:
    size = _BLOCK - len(data) % _BLOCK
    return data + bytes([size]) * size


def _unpad(data: bytes) -> bytes:
    size = data[-1] if data else 0
    if not 1 <= size <= _BLOCK or data[-size:] != bytes([size]) * size:
        raise ValueError("wrong padding")
    return data[:-size]


def _hex(data: bytes) -> str:
    return data.hex().upper()
