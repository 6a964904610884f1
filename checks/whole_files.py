"""Write files whole or not at all."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


class OutputError(Exception):
    """A file could not be written. The text says which file and why, and that nothing was changed."""


def write_whole(path: Path, data: bytes, *, replace: bool) -> None:
    """Write a file of mode 0600 with all of `data`, or no file. Raises OutputError where it cannot be written."""
    with whole_file(path, replace=replace) as file:
        file.write(data)


@contextlib.contextmanager
def whole_file(path: Path, *, replace: bool) -> Iterator[BinaryIO]:
    """Open a file to write as with `whole_path`; a terminal, pipe or device is written to directly."""
    if _is_device(path):
        with _device(path) as device:
            yield device
        return
    with whole_path(path, replace=replace) as temporary, temporary.open("wb") as file:
        yield file


@contextlib.contextmanager
def whole_path(path: Path, *, replace: bool) -> Iterator[Path]:
    """Yield an empty file of mode 0600 to write. It becomes `path` when the `with` ends without an exception.

    Raises OutputError where the file cannot be written, or where it exists and must not be replaced. Other exceptions
    within the block pass through unchanged, and no file is left.
    """
    if path.exists() and not replace and not _is_device(path):
        raise _already_there(path)
    try:
        target = path.resolve()  # a link stays a link
        directory = None if _is_device(path) else target.parent
        handle, name = tempfile.mkstemp(prefix=".racwire-", dir=directory)
    except RuntimeError:
        raise OutputError(f"{path} could not be written: it is a link to itself.") from None
    except OSError as error:
        raise OutputError(f"{path} could not be written: {error.strerror}.") from error
    temporary = Path(name)
    try:
        try:
            yield temporary
            os.fsync(handle)
        finally:
            os.close(handle)
        if directory is None:
            _copy_to_device(temporary, path)
        else:
            _put_in_place(temporary, target, replace=replace)
    except OSError as error:
        raise OutputError(f"{path} could not be written: {error.strerror}; no file was left.") from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def _put_in_place(temporary: Path, path: Path, *, replace: bool) -> None:
    """Rename the finished file; without `replace`, a file that appeared meanwhile is not replaced.

    Raises OSError, OutputError.
    """
    if not replace:
        try:
            os.link(temporary, path)
        except FileExistsError:
            raise _already_there(path) from None
        except OSError:
            pass  # a file system without hard links
        else:
            return
    os.replace(temporary, path)


def _is_device(path: Path) -> bool:
    return path.exists() and not path.is_file()


def _copy_to_device(temporary: Path, path: Path) -> None:
    with _device(path) as device, temporary.open("rb") as file:
        shutil.copyfileobj(file, device)


@contextlib.contextmanager
def _device(path: Path) -> Iterator[BinaryIO]:
    """Open a terminal, pipe or device itself: replacing it by a file would damage the system."""
    try:
        with path.open("wb") as device:
            yield device
    except OSError as error:
        raise OutputError(f"{path} could not be written: {error.strerror}.") from error


def _already_there(path: Path) -> OutputError:
    return OutputError(f"{path} already exists: name another file, or add --force to replace it.")
