"""What a saved file says of itself: its format, when it was written and by what, and what is in it."""

from __future__ import annotations

import hashlib
import re

import msgspec

from checks.traffic.recording_file import Row

_NUMBER = 2
FORMAT = f"racwire-saved/{_NUMBER}"
REPORT, RECORDING = "report", "recording"

MANIFEST_BYTES = 64_000
"""Of the manifest at most: it has some 500."""
REPORT_BYTES = 256_000_000
"""Of the report at most: 255 nodes on two private networks have 130,000 paths, of some 1.5 kB each with what was sent
there. It is read into memory."""


class SavedError(Exception):
    """A saved file could not be opened or made: one sentence with which file, why and what to do."""


class Member(msgspec.Struct, frozen=True):
    """A part of a saved file, as it was written."""

    bytes: int
    sha256: str


class Proof:
    """What a part of a saved file consists of, in one number: the bytes of its rows, and their SHA-256."""

    def __init__(self) -> None:
        self._bytes = 0
        self._digest = hashlib.sha256()

    def add(self, row: Row) -> None:
        """Take in one more row."""
        data = msgspec.msgpack.encode(row)
        self._bytes += len(data)
        self._digest.update(data)

    @property
    def member(self) -> Member:
        """That of the rows until now."""
        return Member(self._bytes, self._digest.hexdigest())


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a saved file says of itself. Fields that an older racwire did not write have a default."""

    format: str
    racwire_version: str = ""
    saved_at: str = ""
    """ISO 8601, with the zone of the node."""
    is_redacted: bool = False
    members: dict[str, Member]


class _Format(msgspec.Struct, frozen=True):
    format: str


def encode(manifest: Manifest) -> bytes:
    """Indented, to be read by people too."""
    return msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"


def decode(data: bytes, path: object, its_format: str = FORMAT) -> Manifest:
    """Raises SavedError where it is none of that format, or of a newer racwire; `path` is the file it is of."""
    try:
        said = msgspec.json.decode(data, type=_Format).format
        number = re.fullmatch(r"racwire-saved/(\d{1,4})", said)
        if number and int(number[1]) > _NUMBER:
            raise newer(path, said, FORMAT)
        manifest = msgspec.json.decode(data, type=Manifest)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise foreign(path) from None
    if manifest.format != its_format:
        raise foreign(path)
    return manifest


def foreign(path: object) -> SavedError:
    """It is something else."""
    return SavedError(f"{path} is no saved file of racwire; `racwire save FILE` makes one.")


def damaged(path: object) -> SavedError:
    """It once was one."""
    return SavedError(f"{path} is damaged, or was not copied whole; copy it again from where it was saved.")


def newer(path: object, theirs: str, ours: str) -> SavedError:
    """This racwire does not know the format."""
    return SavedError(
        f"{path} was saved by a newer racwire (format {theirs}; this one reads {ours}); open it with that one."
    )
