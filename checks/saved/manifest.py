"""The manifest of a saved file: its format, the time and version of its writer, and its parts."""

from __future__ import annotations

import hashlib
import re

import msgspec

from checks.traffic.recording_file import Row

_NUMBER = 2
FORMAT = f"racwire-saved/{_NUMBER}"
REPORT, RECORDING = "report", "recording"

MANIFEST_BYTES = 64_000
"""The largest accepted manifest; a manifest has about 500 bytes."""
REPORT_BYTES = 256_000_000
"""The largest accepted report, which is read into memory. 255 nodes on two private networks have 130,000 paths, of
about 1.5 kB each."""


class SavedError(Exception):
    """A saved file could not be opened or written. The text says which file, why, and what to do."""


class Member(msgspec.Struct, frozen=True):
    """The size and checksum of a part of a saved file, as it was written."""

    bytes: int
    sha256: str


class Proof:
    """Compute the size in bytes and the SHA-256 of the rows of a part."""

    def __init__(self) -> None:
        self._bytes = 0
        self._digest = hashlib.sha256()

    def add(self, row: Row) -> None:
        """Add a row."""
        data = msgspec.msgpack.encode(row)
        self._bytes += len(data)
        self._digest.update(data)

    @property
    def member(self) -> Member:
        """The size and checksum of the rows so far."""
        return Member(self._bytes, self._digest.hexdigest())


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """The manifest of a saved file. Fields that an older racwire did not write have a default."""

    format: str
    racwire_version: str = ""
    saved_at: str = ""
    """ISO 8601, with the zone of the node."""
    is_redacted: bool = False
    members: dict[str, Member]
    sha256: str = ""
    """The checksum of the manifest without this field; empty in files of racwire 0.2.0."""

    def sealed(self) -> Manifest:
        """Return the manifest with its checksum."""
        plain = msgspec.structs.replace(self, sha256="")
        return msgspec.structs.replace(self, sha256=hashlib.sha256(msgspec.json.encode(plain)).hexdigest())


class _Format(msgspec.Struct, frozen=True):
    format: str


def encode(manifest: Manifest) -> bytes:
    """Encode the manifest as JSON, indented so that people can read it."""
    return msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"


def decode(data: bytes, path: object) -> Manifest:
    """Decode the manifest of the file `path`.

    Raises SavedError where it is no manifest of this format, is damaged, or was written by a newer racwire.
    """
    try:
        found = msgspec.json.decode(data, type=_Format).format
        number = re.fullmatch(r"racwire-saved/(\d{1,4})", found)
        if number and int(number[1]) > _NUMBER:
            raise newer(path, found, FORMAT)
        manifest = msgspec.json.decode(data, type=Manifest)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise foreign(path) from None
    if manifest.format != FORMAT:
        raise foreign(path)
    if manifest.sha256 and manifest != manifest.sealed():
        raise damaged(path)
    return manifest


def foreign(path: object) -> SavedError:
    """The error for a file that is no saved file."""
    return SavedError(f"{path} is no saved file of racwire; `racwire save FILE` writes one.")


def damaged(path: object) -> SavedError:
    """The error for a saved file that is damaged or incomplete."""
    return SavedError(f"{path} is damaged, or its copy is incomplete: copy it again from the original.")


def newer(path: object, theirs: str, ours: str) -> SavedError:
    """The error for a file in a format of a newer racwire."""
    return SavedError(
        f"{path} was saved by a newer racwire (format {theirs}; this racwire reads {ours}): open it with the newer "
        "racwire."
    )
