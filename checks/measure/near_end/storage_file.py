"""One file that is written and read, in the sender's process: a server that hangs blocks this process alone.

The file is unlinked as soon as it is open, so that the kernel removes it with this process, in whatever way that ends.
"""

from __future__ import annotations

import errno
import fcntl
import mmap
import os
import stat
import struct
import time
from typing import Any

from checks.measure.near_end.control import Budget
from checks.measure.near_end.stopped import StoppedError

_PAGE = 4096
_STAMP = struct.Struct("<QQ")
_MOST_NAMES = 5_000
_NO_DIRECT = (errno.EINVAL, errno.EOPNOTSUPP)
DIRECT, FSYNC = "O_DIRECT", "fsync"


class StorageFile:
    """The directory and the file of a measurement. Each method carries out an order; errors are in its result."""

    def __init__(self) -> None:
        self._file = -1
        self._buffer = mmap.mmap(-1, _PAGE)
        self._method = DIRECT
        self._stamps = 0

    def look(self, order: dict[str, Any], budget: Budget) -> dict[str, Any]:
        """Return what a directory is: its real path, its file system's room, and names in it. Writes nothing."""
        try:
            real = os.path.realpath(order["directory"], strict=True)
            found = os.stat(real)
            if not stat.S_ISDIR(found.st_mode):
                return {"error": os.strerror(errno.ENOTDIR)}
            room = os.statvfs(real)
            with os.scandir(real) as entries:
                names = [entry.name for entry, _ in zip(entries, range(_MOST_NAMES), strict=False)]
        except OSError as error:
            return {"error": error.strerror or str(error)}
        return {
            "real": real,
            "device": found.st_dev,
            "inode": found.st_ino,
            "size": room.f_blocks * room.f_frsize,
            "free": room.f_bavail * room.f_frsize,
            "is_read_only": bool(room.f_flag & os.ST_RDONLY),
            "is_writable": os.access(real, os.W_OK | os.X_OK),
            "names": [name.encode("utf-8", "replace").decode() for name in names],
        }

    def open(self, order: dict[str, Any], budget: Budget) -> dict[str, Any]:
        """Open a new file, without a name, in a directory that has not been replaced since it was judged."""
        try:
            directory = os.open(order["real"], os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                found = os.fstat(directory)
                if (found.st_dev, found.st_ino) != (order["device"], order["inode"]):
                    return {"error": "the directory is another one than before"}
                self._file = _without_a_name(directory, order["name"])
            finally:
                os.close(directory)
            self._buffer = mmap.mmap(-1, order["request_bytes"])  # begins at a page, as O_DIRECT demands
            self._buffer[:] = os.urandom(order["request_bytes"])
            self._set_direct()
        except OSError as error:
            return {"error": error.strerror or str(error)}
        return {"method": self._method}

    def transfer(self, order: dict[str, Any], budget: Budget) -> dict[str, Any]:
        """Write or read from an offset on, one request at a time, until the end or for so many seconds."""
        offset, end, is_write = order["offset"], order["end"], order["is_write"]
        budget.bits_per_s = order["bits_per_s"]
        request = len(self._buffer)
        times: list[float] = []
        started, stopped, failed = time.monotonic(), "", ""
        number = 0
        try:
            while offset < end and time.monotonic() - started < order["seconds"]:
                budget.take(0, request)
                if is_write:
                    self._stamp()
                begin = time.monotonic_ns()
                self._write(offset) if is_write else self._read(offset)
                times.append((time.monotonic_ns() - begin) / 1000)
                offset += request
        except StoppedError as error:
            stopped = str(error)
        except OSError as error:
            failed, number = error.strerror or str(error), error.errno or 0
            os.ftruncate(self._file, 0)  # gives a full file system its room back
        return {
            "times_us": times,
            "offset": offset,
            "seconds": time.monotonic() - started,
            "method": self._method,
            "stopped": stopped,
            "error": failed,
            "errno": number,
        }

    def _set_direct(self) -> None:
        flags = fcntl.fcntl(self._file, fcntl.F_GETFL)
        try:
            fcntl.fcntl(self._file, fcntl.F_SETFL, flags | os.O_DIRECT)
        except OSError as error:
            if error.errno not in _NO_DIRECT:
                raise
            self._method = FSYNC

    def _set_buffered(self) -> None:
        flags = fcntl.fcntl(self._file, fcntl.F_GETFL)
        fcntl.fcntl(self._file, fcntl.F_SETFL, flags & ~os.O_DIRECT)
        self._method = FSYNC

    def _stamp(self) -> None:
        """Make each page unlike all before: a server that stores equal pages once would write nothing."""
        for page in range(0, len(self._buffer), _PAGE):
            self._stamps += 1
            _STAMP.pack_into(self._buffer, page, self._stamps, time.monotonic_ns())

    def _write(self, offset: int) -> None:
        try:
            done = os.pwrite(self._file, self._buffer, offset)
        except OSError as error:
            # Some file systems take the flag, and refuse the first request.
            if error.errno not in _NO_DIRECT or self._method == FSYNC:
                raise
            self._set_buffered()
            done = os.pwrite(self._file, self._buffer, offset)
        if done < len(self._buffer):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if self._method == FSYNC:
            os.fdatasync(self._file)

    def _read(self, offset: int) -> None:
        if self._method == FSYNC:
            os.posix_fadvise(self._file, offset, len(self._buffer), os.POSIX_FADV_DONTNEED)
        if os.preadv(self._file, [self._buffer], offset) < len(self._buffer):
            raise OSError(errno.EIO, "the file is shorter than what was written")


def _without_a_name(directory: int, name: str) -> int:
    """Return a new file of the directory that has no name any more. Raises OSError."""
    try:
        return os.open(f"/proc/self/fd/{directory}", os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError:  # NFS has no files without a name
        new = os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_RDWR | os.O_CLOEXEC
        file = os.open(name, new, 0o600, dir_fd=directory)
    try:
        os.unlink(name, dir_fd=directory)
    except BaseException:
        os.close(file)
        raise
    return file
