"""The practice cluster's directory: where it is, whose it is, and who may work in it at this moment."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from racwire_lab.lab_errors import LabError

_MARKER = ".racwire-lab"
_PLAIN = re.compile(r"/[A-Za-z0-9._/+@:,=-]+")


def lab_directory() -> Path:
    """The directory for the practice cluster of this user and environment, whether or not there is one."""
    if chosen := os.environ.get("RACWIRE_LAB_DIR"):
        path = Path(chosen)
    elif runtime := os.environ.get("XDG_RUNTIME_DIR"):
        path = Path(runtime) / "racwire-lab"
    else:
        path = Path(f"/tmp/racwire-lab-{os.getuid()}")  # noqa: S108 - ownership is checked before use
    path = path.absolute()
    path = path.parent.resolve() / path.name
    # The path is written into the configuration of sshd and ssh, which quote and expand each in its own way.
    if not _PLAIN.fullmatch(str(path)):
        raise LabError(
            f"The practice cluster cannot live in '{path}': set RACWIRE_LAB_DIR to an absolute path made of "
            "letters, digits and . _ - + @ : , = only."
        )
    return path


def exists(path: Path) -> bool:
    """Whether a practice cluster, running or dead, has its files here; LabError when this is somebody else's."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return False
    if found.st_uid != os.getuid():
        raise LabError(
            f"{path} belongs to user id {found.st_uid}, not to you: set RACWIRE_LAB_DIR to a directory of your own."
        )
    if not path.is_dir() or path.is_symlink():
        raise LabError(f"{path} is not a directory: set RACWIRE_LAB_DIR to where the practice cluster may live.")
    try:
        files = [entry.name for entry in path.iterdir()]
    except FileNotFoundError:
        return False
    # The marker comes first and goes last; looked for after the rest, it cannot be missed while a cluster comes up.
    if (path / _MARKER).exists():
        return True
    if files and files != [_MARKER]:
        raise LabError(
            f"{path} holds files that are not a practice cluster's: set RACWIRE_LAB_DIR to a directory that does "
            "not exist yet."
        )
    return False


@contextlib.contextmanager
def locked(path: Path, *, create: bool) -> Iterator[bool]:
    """Hold the directory for one command alone; waits while another one has it. Yields whether it is there.

    The lock is on the directory itself, so that taking the cluster down leaves no lock file behind. Raises LabError
    also where the command finds no room for its files.
    """
    handle = _lock(path, create=create)
    if handle is None:
        yield False
        return
    try:
        yield True
    except OSError as error:
        if not _is_full(error):
            raise
        raise LabError(
            f"There is no room for the practice cluster's files in {path}: make some, or set RACWIRE_LAB_DIR to a "
            "directory on another file system."
        ) from error
    finally:
        os.close(handle)


def _is_full(error: OSError) -> bool:
    # A whole directory's copy tells of all its files in one error, as text.
    return error.errno in (errno.ENOSPC, errno.EDQUOT) or os.strerror(errno.ENOSPC) in str(error)


def _lock(path: Path, *, create: bool) -> int | None:
    while True:
        if create:
            _create(path)
        elif not exists(path):
            return None
        try:
            handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        fcntl.flock(handle, fcntl.LOCK_EX)
        # While this command waited, the other one may have removed the directory and a third made a new one.
        with contextlib.suppress(FileNotFoundError):
            if os.stat(path).st_ino == os.fstat(handle).st_ino:
                return handle
        os.close(handle)


def _create(path: Path) -> None:
    exists(path)
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        # In this moment another command may remove it again: then the caller tries once more.
        with contextlib.suppress(FileNotFoundError):
            path.chmod(0o700)
            (path / _MARKER).touch()
    except OSError as error:
        raise LabError(
            f"Could not make the practice cluster's directory {path} ({error.strerror}): set RACWIRE_LAB_DIR to a "
            "directory that you may write to."
        ) from error


def clear(path: Path) -> None:
    """Remove every file of a dead cluster but the directory and its marker."""
    for entry in path.iterdir():
        if entry.name == _MARKER:
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def remove(path: Path) -> None:
    """Remove the directory of a dead cluster; LabError when anything stays.

    The marker goes last: without it, what is still there would look like somebody's own files to another command.
    """
    try:
        clear(path)
        (path / _MARKER).unlink(missing_ok=True)
        path.rmdir()
    except OSError as error:
        if error.errno == errno.ENOTEMPTY and [entry.name for entry in path.iterdir()] == [_MARKER]:
            return  # another command waits to bring up its own cluster here
        raise LabError(
            f"Could not remove {error.filename or path} ({error.strerror}): remove {path} by hand."
        ) from error
