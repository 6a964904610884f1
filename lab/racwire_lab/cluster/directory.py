"""The directory of the practice cluster: its path, its owner, and the lock on it."""

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
    """Return the directory for the practice cluster of this user and environment, even if it does not exist.

    Raises LabError when the path contains a character that the configuration of ssh cannot hold.
    """
    if chosen := os.environ.get("RACWIRE_LAB_DIR"):
        path = Path(chosen)
    elif runtime := os.environ.get("XDG_RUNTIME_DIR"):
        path = Path(runtime) / "racwire-lab"
    else:
        path = Path(f"/tmp/racwire-lab-{os.getuid()}")  # noqa: S108 - ownership is checked before use
    path = path.absolute()
    path = path.parent.resolve() / path.name
    # The path is written into the configuration of sshd and ssh. Each of them quotes and expands paths in its own way.
    if not _PLAIN.fullmatch(str(path)):
        raise LabError(
            f"The practice cluster cannot use the directory '{path}': set RACWIRE_LAB_DIR to an absolute path made of "
            "letters, digits and . _ - + @ : , = only."
        )
    return path


def grid_home(directory: Path, node: str) -> Path:
    """Return the GRID_HOME of a node."""
    return directory / "nodes" / node / "grid"


def settings_file(directory: Path) -> Path:
    """Return the path of the settings file with which racwire reads the practice cluster; below a user's home, of that
    user's."""
    return directory / "settings.toml"


def exists(path: Path) -> bool:
    """Whether the directory holds files of a practice cluster, running or ended.

    Raises LabError when the directory belongs to another user or holds other files.
    """
    try:
        found = path.lstat()
    except FileNotFoundError:
        return False
    if found.st_uid != os.getuid():
        raise LabError(
            f"{path} belongs to user id {found.st_uid}, not to you: set RACWIRE_LAB_DIR to a directory of your own."
        )
    if not path.is_dir() or path.is_symlink():
        raise LabError(f"{path} is not a directory: set RACWIRE_LAB_DIR to a directory for the practice cluster.")
    try:
        files = [entry.name for entry in path.iterdir()]
    except FileNotFoundError:
        return False
    # The marker is made first and removed last. This check runs after the listing, so it sees the marker of a cluster
    # that starts meanwhile.
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
    """Lock the directory for one command, and wait for the lock. Yield whether the directory exists.

    The lock is on the directory itself, so that no lock file remains when the cluster is removed. Raises LabError when
    the directory belongs to another user, cannot be made, or has no space left.
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
            f"No space is left for the practice cluster in {path}: free some space, or set "
            "RACWIRE_LAB_DIR to a directory on another file system."
        ) from error
    finally:
        os.close(handle)


def _is_full(error: OSError) -> bool:
    # The copy of a whole directory reports the errors of all its files in one exception, as text.
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
        # While this command waited, the other command may have removed the directory and a third may have made a new
        # one.
        with contextlib.suppress(FileNotFoundError):
            if os.stat(path).st_ino == os.fstat(handle).st_ino:
                return handle
        os.close(handle)


def _create(path: Path) -> None:
    if exists(path):
        return
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Another command may remove the directory at this moment: the caller then tries again.
        with contextlib.suppress(FileNotFoundError):
            path.chmod(0o700)
            (path / _MARKER).touch()
    except OSError as error:
        raise LabError(
            f"Could not make the practice cluster's directory {path} ({error.strerror}): set RACWIRE_LAB_DIR to a "
            "directory that you may write to."
        ) from error


def clear(path: Path) -> None:
    """Remove all files of an ended cluster except the directory and its marker."""
    for entry in path.iterdir():
        if entry.name == _MARKER:
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def remove(path: Path) -> None:
    """Remove the directory of an ended cluster. Raises LabError when a file remains.

    The marker goes last: without it, another command would take the remaining files for files of another owner.
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
