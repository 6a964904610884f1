"""The mapping file: one run uses it at a time, racwire writes it as a whole, and only the operator can read it."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from checks.model.sanitize import as_utf8
from checks.redact.network_pseudonyms import RedactionError
from checks.redact.pseudonyms import SCHEMA, MappingFile, Pseudonyms
from checks.whole_files import OutputError, OutputFile, write_whole

WAIT_S = 60.0
"""Seconds to wait for another run that has locked the mapping: enough to replace all names."""
_RETRY_S = 0.05
_LARGEST = 64_000_000
"""Bytes. The mapping of a thousand clusters is smaller."""


@contextmanager
def open_mapping(path: Path) -> Iterator[Pseudonyms]:
    """Lock the mapping file, and return its pseudonyms. The end of the block writes the new ones and releases the lock.

    If the block fails, the file is unchanged. Raises RedactionError where the file cannot be read or another run has
    locked it, and OutputError where it cannot be written.
    """
    with _locked(path):
        before = _read(path)
        try:
            pseudonyms = Pseudonyms(before)
        except ValueError as error:
            raise _damaged(path, str(error)) from None
        yield pseudonyms
        after = pseudonyms.mapping()
        if after != before or path.stat().st_mode & 0o077:
            try:
                write_whole(OutputFile(path, replace=True), _as_json(after))
            except OutputError as error:
                raise OutputError(f"{str(error).rstrip('.')}; specify another with --redaction-map FILE.") from None


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock of the file. The lock file is never deleted, because then two runs could each lock their own."""
    lock = path.with_name(f"{path.name}.lock")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "the path is not a file name"
        raise OutputError(f"{path} could not be written: {why}; specify another with --redaction-map FILE.") from None
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
                raise RedactionError(
                    f"Another run of racwire has used {path} for over {WAIT_S:.0f} s; try again."
                ) from None
            time.sleep(_RETRY_S)
        else:
            return


def _read(path: Path) -> MappingFile | None:
    """Return the stored mapping; None where the file does not exist yet."""
    try:
        if not path.exists():
            return None
        if not path.is_file():
            raise RedactionError(f"{path} is not a regular file; specify another with --redaction-map FILE.")
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except OSError as error:
        raise RedactionError(
            f"{path} could not be read: {error.strerror}; specify another with --redaction-map FILE."
        ) from None
    try:
        mapping = msgspec.json.decode(as_utf8(data), type=MappingFile)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise _damaged(path, str(error)) from None
    if mapping.schema != SCHEMA:
        raise RedactionError(
            f"Another version of racwire wrote {path} ({mapping.schema}; this one reads {SCHEMA}): specify another "
            "with --redaction-map FILE."
        )
    return mapping


def _as_json(mapping: MappingFile) -> bytes:
    return msgspec.json.format(msgspec.json.encode(mapping), indent=2) + b"\n"


def _damaged(path: Path, why: str) -> RedactionError:
    return RedactionError(
        f"{path} is not a mapping of pseudonyms, or is damaged ({why}): fix it, or specify another with "
        "--redaction-map FILE. racwire did not change it."
    )
