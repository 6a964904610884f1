"""The file of the mapping: used by one run at a time, written whole or not at all, readable only by the operator."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from checks.redact.blocks import RedactionError
from checks.redact.pseudonyms import SCHEMA, MappingFile, Pseudonyms
from checks.whole_files import OutputError, write_whole

WAIT_S = 60.0
"""For another run that has the mapping in use: for as long as it takes it to replace all names."""
_LOOK_EACH_S = 0.05
_LARGEST = 64_000_000
"""Bytes: a thousand clusters have less."""


@contextmanager
def held(path: Path) -> Iterator[Pseudonyms]:
    """The pseudonyms of a file, locked for this run until the end of the block, which writes the added ones.

    If the block fails, the file is unchanged. Raises RedactionError where the file cannot be read or another run has
    it, and OutputError where it cannot be written.
    """
    with _alone(path):
        before = _read(path)
        try:
            pseudonyms = Pseudonyms(before)
        except ValueError as error:
            raise _damaged(path, str(error)) from None
        yield pseudonyms
        after = pseudonyms.kept()
        if after != before or path.stat().st_mode & 0o077:
            write_whole(path, _as_json(after), replace=True)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Hold the lock of the file. The lock file remains in its directory: without it two runs could start."""
    lock = path.with_name(f"{path.name}.lock")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "that is no file name"
        raise OutputError(f"{path} could not be written: {why}; name another with --redaction-map FILE.") from None
    try:
        _wait_for(handle, path)
        yield
    finally:
        os.close(handle)


def _wait_for(handle: int, path: Path) -> None:
    until = time.monotonic() + WAIT_S
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise RedactionError(f"Another racwire has {path} in use for over {WAIT_S:.0f} s; try again.") from None
            time.sleep(_LOOK_EACH_S)
        else:
            return


def _read(path: Path) -> MappingFile | None:
    """The stored mapping; None where the file does not exist yet."""
    try:
        if not path.exists():
            return None
        if not path.is_file():
            raise RedactionError(f"{path} is no file; name another with --redaction-map FILE.")
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except OSError as error:
        raise RedactionError(
            f"{path} could not be read: {error.strerror}; name another with --redaction-map FILE."
        ) from None
    try:
        kept = msgspec.json.decode(data, type=MappingFile)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise _damaged(path, str(error)) from None
    if kept.schema != SCHEMA:
        raise RedactionError(
            f"{path} was written by another racwire ({kept.schema}; this one reads {SCHEMA}): name another with "
            "--redaction-map FILE."
        )
    return kept


def _as_json(kept: MappingFile) -> bytes:
    return msgspec.json.format(msgspec.json.encode(kept), indent=2) + b"\n"


def _damaged(path: Path, why: str) -> RedactionError:
    return RedactionError(
        f"{path} is no mapping of pseudonyms, or is damaged ({why}): mend it, or name another with --redaction-map "
        "FILE. It was left as it is."
    )
