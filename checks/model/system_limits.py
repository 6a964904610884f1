"""Errors of the operating system's limits on a user: threads, processes, open files and memory."""

from __future__ import annotations

import errno

_THREADS = "can't start new thread"
_LIMITS = {
    errno.EAGAIN: "this user may start no more processes and threads on this node: check `ulimit -u`",
    errno.EMFILE: "this user may open no more files on this node: check `ulimit -n`",
    errno.ENFILE: "this node has no room for more open files: check fs.file-max",
    errno.ENOMEM: "this node has too little memory for another process",
}


def limit_reached(error: BaseException) -> str:
    """Return the limit that an error reports, as a clause without capital; empty for other errors."""
    if isinstance(error, RuntimeError) and str(error).startswith(_THREADS):
        return _LIMITS[errno.EAGAIN]
    return _LIMITS.get(error.errno or 0, "") if isinstance(error, OSError) else ""
