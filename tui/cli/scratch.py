"""Temporary directories that do not outlive racwire: each run removes those of runs that were killed."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

_PREFIX = "racwire-run-"
_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class ScratchDirectory:
    """A new directory for temporary files, which only its owner can enter.

    racwire holds a lock on it while it runs. A directory of this user without a lock is of a racwire that was killed.
    Raises OSError where no directory can be made.
    """

    def __init__(self) -> None:
        _remove_left(Path(tempfile.gettempdir()))
        self._lock = -1
        while self._lock < 0:
            self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
            self._lock = _locked(self.path)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.cleanup()

    def cleanup(self) -> None:
        """Remove the directory with all in it. May be called twice."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def _locked(directory: Path) -> int:
    """Return a new handle that holds the lock of a new directory; -1 where another racwire took it for one that is
    left, and removed it."""
    try:
        handle = os.open(directory, _OPEN)
    except FileNotFoundError:
        return -1
    with suppress(OSError):  # a file system without locks: nobody removes what nobody can lock
        fcntl.flock(handle, fcntl.LOCK_EX)
    if directory.exists():
        return handle
    os.close(handle)
    return -1


def _remove_left(parent: Path) -> None:
    """Remove this user's directories that no racwire holds. A link is not followed, and an error is passed over."""
    with suppress(OSError):
        for name in os.listdir(parent):
            if name.startswith(_PREFIX):
                with suppress(OSError):
                    _remove_if_left(parent / name)


def _remove_if_left(directory: Path) -> None:
    handle = os.open(directory, _OPEN)
    try:
        if os.fstat(handle).st_uid == os.geteuid():
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(directory, ignore_errors=True)
    finally:
        os.close(handle)
