"""Joining the namespaces of a node, for a program that then goes on in them."""

from __future__ import annotations

import ctypes
import os

from racwire_lab.cluster.processes import Process

_NAMESPACES = ("user", "mnt", "uts", "net", "pid")
"""In an order in which each still permits the next."""

_libc = ctypes.CDLL(None, use_errno=True)


def join(holder: Process) -> None:
    """Enter the namespaces of a process; as for its PID namespace, only our children are in it.

    Raises OSError, as when the process has ended, or when we have threads and are no root.
    """
    handles = [
        os.open(f"/proc/{holder.pid}/ns/{name}", os.O_RDONLY) for name in _NAMESPACES if not _shared(holder, name)
    ]
    if not holder.alive():
        raise ProcessLookupError(0, "it is no longer running")
    for handle in handles:
        if _libc.setns(handle, 0):
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code))
        os.close(handle)
    os.chdir("/")


def _shared(holder: Process, name: str) -> bool:
    """Whether we are in that namespace already; joining one's own user namespace is an error."""
    return os.stat(f"/proc/{holder.pid}/ns/{name}").st_ino == os.stat(f"/proc/self/ns/{name}").st_ino
