"""Replaces each text of the models by a random token at the place where it is made, before `checks` is imported.

`classified.py` has which fields are words, which are keys (compared for equality only), and which are data.
"""

from __future__ import annotations

import dataclasses
import random
import zlib
from collections.abc import Callable
from typing import Any

import msgspec

from tests.words.classified import category, is_masked


class Masking:
    """Tokens for texts; a token stays as it is."""

    def __init__(self, *, each: bool) -> None:
        """With `each`, equal texts get different tokens; else one token a text."""
        self.each = each
        self.tokens: set[str] = set()
        self.made: dict[str, str] = {}
        self.number = 0

    def masked(self, value: Any, *, is_key: bool = False) -> Any:
        if type(value) is str:
            return self.token(value, is_key=is_key) if value and value not in self.tokens else value
        if type(value) in (tuple, list):
            return type(value)(self.masked(each, is_key=is_key) for each in value)
        return value

    def token(self, text: str, *, is_key: bool) -> str:
        if text not in self.made or (self.each and not is_key):
            self.number += 1
            self.made[text] = token_of(self.number, text)
            self.tokens.add(self.made[text])
        return self.made[text]


_PARTS = ("rac1", "eth1 of rac2", "-> rac1;", "192.168.10.0/24,", "9000", "no.", "yes:", "(a, b)", "`x`", "Zwölf", "%")


def token_of(number: int, text: str) -> str:
    """Return a text that no other text has, with names, numbers and punctuation that would mislead a reader of it."""
    chance = random.Random(zlib.crc32(f"{text} {number}".encode()))
    return f"{' '.join(chance.sample(_PARTS, 3))} {chance.randrange(10**6)}#{number}"


def install(masking: Masking) -> None:
    """Mask the texts of every class of `checks` that is defined from now on."""

    def after(cls: type, names: Callable[[], list[str]]) -> None:
        before = getattr(cls, "__post_init__", None)
        fields: list[tuple[str, bool]] | None = None

        def __post_init__(self: Any) -> None:
            nonlocal fields
            if before is not None:
                before(self)
            if fields is None:
                found = {name: category(cls, name) for name in names()}
                fields = [(name, found[name] == "key") for name in found if found[name] != "data"]
            for name, is_key in fields:
                value = getattr(self, name)
                if (new := masking.masked(value, is_key=is_key)) is not value:
                    if isinstance(self, msgspec.Struct):
                        msgspec.structs.force_setattr(self, name, new)
                    else:
                        object.__setattr__(self, name, new)

        cls.__post_init__ = __post_init__  # type: ignore[attr-defined]

    class Struct(msgspec.Struct):
        def __init_subclass__(cls, **options: Any) -> None:
            super().__init_subclass__(**options)
            if is_masked(cls):
                after(cls, lambda: list(cls.__struct_fields__))

    real = dataclasses.dataclass

    def dataclass(cls: type | None = None, /, **options: Any) -> Any:
        if cls is None:
            return lambda found: dataclass(found, **options)
        if is_masked(cls):
            after(cls, lambda: [field.name for field in dataclasses.fields(cls)])
        return real(cls, **options)

    msgspec.Struct = Struct  # type: ignore[misc]
    dataclasses.dataclass = dataclass  # type: ignore[assignment]
