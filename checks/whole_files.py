"""Write files whole or not at all, and never through a symbolic link that another user could have made."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

OWNER_ONLY = 0o600
_OTHERS_WRITE = 0o022
_ROOT = 0
_MOST_LINKS = 40
"""Symbolic links in one path: the kernel's own limit."""


class OutputError(Exception):
    """A file could not be written. The text says which file and why, and that nothing was changed."""


@dataclass(frozen=True)
class OutputFile:
    """A file to write."""

    path: Path
    replace: bool = False
    """Whether a file that exists may be replaced."""
    mode: int = OWNER_ONLY

    def __str__(self) -> str:
        return str(self.path)


def write_whole(file: OutputFile, data: bytes) -> None:
    """Write a file with all of `data`, or no file. Raises OutputError where it cannot be written."""
    with whole_path(file) as temporary:
        temporary.write_bytes(data)


@contextlib.contextmanager
def whole_path(file: OutputFile) -> Iterator[Path]:
    """Yield an empty file of mode 0600 to write. It becomes the file when the `with` ends without an exception.

    Raises OutputError where the file cannot be written, where it exists and must not be replaced, or where a path leads
    through a link that is not trusted. Other exceptions within the block pass through unchanged, and no file is left.
    """
    path = file.path
    target = trusted_target(path)
    if target.exists() and not file.replace:
        raise _already_there(path)
    try:
        handle, name = tempfile.mkstemp(prefix=".racwire-", dir=target.parent)
    except OSError as error:
        raise OutputError(f"{path} could not be written: {error.strerror}.") from error
    temporary = Path(name)
    try:
        try:
            yield temporary
            os.fchmod(handle, file.mode)
            os.fsync(handle)
        finally:
            os.close(handle)
        _put_in_place(temporary, target, replace=file.replace)
    except OSError as error:
        raise OutputError(f"{path} could not be written: {error.strerror}; no file was left.") from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def trusted_target(path: Path) -> Path:
    """Return the path of the file itself, without symbolic links.

    A link could lead to a file that its maker chose, so a link is followed where this user or root made it and no other
    user can replace it, and the file must be a regular one. Raises OutputError otherwise.
    """
    left = list(reversed(path.parts))
    reached = Path()
    links = 0
    while left:
        reached /= left.pop()
        try:
            if not reached.is_symlink():
                continue
            links += 1
            if links > _MOST_LINKS:
                raise OutputError(f"{path} could not be written: its symbolic links form a loop.")
            _check_link(path, reached)
            left += reversed(reached.readlink().parts)
        except OSError as error:
            raise OutputError(f"{path} could not be written: {error.strerror}.") from error
        reached = reached.parent
    try:
        is_other = reached.exists() and not reached.is_file()
    except OSError as error:
        raise OutputError(f"{path} could not be written: {error.strerror}.") from error
    if is_other:
        raise OutputError(f"{path} is not a regular file: name another one, or redirect the output of racwire.")
    return reached


def _check_link(path: Path, link: Path) -> None:
    """Raises OutputError where another user made the link or can replace it, OSError."""
    if os.lstat(link).st_uid not in (os.geteuid(), _ROOT):
        why = f"{link} is a symbolic link of another user"
    elif os.stat(link.parent).st_mode & _OTHERS_WRITE:
        why = f"{link} is a symbolic link in a directory that other users can write to"
    else:
        return
    raise OutputError(f"{path} was not written: {why}, so it could lead to any file. Name the file itself.")


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


def _already_there(path: Path) -> OutputError:
    return OutputError(f"{path} already exists: name another file, or add --force to replace it.")
