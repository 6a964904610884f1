"""Files are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path


class OutputError(Exception):
    """A file could not be written: one sentence with which, why, and that nothing was changed."""


def write_whole(path: Path, data: bytes, *, replace: bool) -> None:
    """Write a file of mode 0600 so that it has all of `data` or is not there. Raises OutputError."""
    if path.exists() and not path.is_file():
        _write_to_device(path, data)
        return
    if path.exists() and not replace:
        raise OutputError(f"{path} is already there; name another file, or add --force to replace it.")
    try:
        path = path.resolve()  # a link stays a link
        handle, temporary = tempfile.mkstemp(prefix=".racwire-", dir=path.parent)
    except RuntimeError:
        raise OutputError(f"{path} could not be written: it is a link to itself.") from None
    except OSError as error:
        raise OutputError(f"{path} could not be written: {error.strerror}.") from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise OutputError(f"{path} could not be written: {error.strerror}; nothing was left there.") from error


def _write_to_device(path: Path, data: bytes) -> None:
    """A terminal, pipe or device is written to as it is: replacing it by a file would harm the system."""
    try:
        with path.open("wb") as device:
            device.write(data)
    except OSError as error:
        raise OutputError(f"{path} could not be written: {error.strerror}.") from error
