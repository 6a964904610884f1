"""Locks by which the programs of the practice nodes know of each other: held from a program's first moment to its last.

The kernel gives a lock up when its holder ends, however it ends, so what is known is always true.
"""

from __future__ import annotations

import fcntl
import os


class Lock:
    """A lock file, to look whether somebody holds it, or to hold it."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = path
        self._looking: int | None = None
        self._holding: int | None = None

    def is_held(self) -> bool:
        """Whether anybody holds it; not where there is no such file."""
        if self._looking is None:
            try:
                self._looking = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
            except FileNotFoundError:
                return False
        try:
            fcntl.flock(self._looking, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        fcntl.flock(self._looking, fcntl.LOCK_UN)
        return False

    def take(self) -> bool:
        """Hold it; False while somebody else does, if only to look."""
        if self._holding is None:
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(handle)
                return False
            self._holding = handle
        return True

    def give_up(self) -> None:
        """Hold it no longer; also when it is not held."""
        if self._holding is not None:
            os.close(self._holding)
            self._holding = None

    def close(self) -> None:
        """Neither look at it nor hold it any longer."""
        self.give_up()
        if self._looking is not None:
            os.close(self._looking)
            self._looking = None
