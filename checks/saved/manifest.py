"""What a saved file says of itself: its format, when it was written and by what, and what is in it."""

from __future__ import annotations

import re

import msgspec

from checks.saved.errors import SavedError

FORMAT = "racwire-saved/1"
MANIFEST, REPORT, RECORDING = "manifest.json", "report.json", "recording.rec"

MANIFEST_BYTES = 64_000
"""Of the manifest at most: it has some 500."""
REPORT_BYTES = 256_000_000
"""Of the report at most: 255 nodes on two private networks have 130,000 paths, of some 1.5 kB each with what was sent
there. It is read into memory."""
RECORDING_BYTES = 2_000_000_000
"""Of the recording at most: forty days of a second each, of 8 interfaces and 2 instances. Below the 2 GiB from which on
zip files need another layout, which is one thing less that can be wrong in a file."""


class Member(msgspec.Struct, frozen=True):
    """A member of the zip, as it was written."""

    bytes: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """`manifest.json`. Fields that an older racwire did not write have a default."""

    format: str
    racwire_version: str = ""
    saved_at: str = ""
    """ISO 8601, with the zone of the node."""
    is_redacted: bool = False
    members: dict[str, Member]


class _Format(msgspec.Struct, frozen=True):
    format: str


def encode(manifest: Manifest) -> bytes:
    """For the zip: indented, to be read by people too."""
    return msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"


def decode(data: bytes, path: object) -> Manifest:
    """Raises SavedError where it is none, or of a newer racwire; `path` is the file it is of."""
    try:
        said = msgspec.json.decode(data, type=_Format).format
        if said != FORMAT and re.fullmatch(r"racwire-saved/\d{1,4}", said):
            raise newer(path, said, FORMAT)
        manifest = msgspec.json.decode(data, type=Manifest)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise foreign(path) from None
    if manifest.format != FORMAT or REPORT not in manifest.members:
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
