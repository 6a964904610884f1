"""A listener as the other programs of its node see it: its process, its lock, and what `lsnrctl` prints."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from racwire_lab.cluster.topology import PLUGGABLE
from racwire_lab.programs.cache_fusion.stack_locks import Lock

LISTENER, SCAN_LISTENER = "LISTENER", "LISTENER_SCAN1"


class Registration(NamedTuple):
    """A service that an instance has registered with a listener."""

    service: str
    instance: str
    status: str = "READY"
    handlers: int = 1


_GUID = "86b637b62fdf7a65e053f706e80a27ca"
"""The GUID of the pluggable database: its internal service, which has this name, is registered too."""


def registrations(services: Iterable[tuple[str, str]]) -> Iterator[Registration]:
    """Yield all services that the instances of these services register, also those that no client uses."""
    for service, instance in services:
        name, dot, domain = service.partition(".")
        yield Registration(service, instance)
        internal = (_GUID,) if name == PLUGGABLE else (f"{name}XDB", f"{name}_CFG")
        yield from (Registration(f"{other}{dot}{domain}", instance) for other in internal)


def asm_services(number: int) -> Iterator[Registration]:
    """Yield the services that the ASM instance of a node registers."""
    yield from (Registration(service, f"+ASM{number}") for service in ("+ASM", "+ASM_DATA", "+ASM_OCR"))


class ListenerProcess:
    """The process `tnslsnr NAME` of a node. It does nothing: the server of the instance accepts the clients."""

    def __init__(self, home: Path, name: str) -> None:
        self._program = home / "grid" / "bin" / "tnslsnr"
        self._file = home / "stack" / f"{name}.services"
        self._lock = Lock(home / "stack" / f"{name}.lock")
        self._name = name
        self._process: subprocess.Popen[bytes] | None = None
        self._shown = ""

    def show(self, endpoints: Iterable[tuple[str, int]], registrations: Iterable[Registration]) -> None:
        """Start the process if it does not run, and write the endpoints and the registered services."""
        if self._process is None or self._process.poll() is not None:
            self._start()
        lines = [f"endpoint {host} {port}" for host, port in endpoints]
        lines += [f"service {one.service} {one.instance} {one.status} {one.handlers}" for one in registrations]
        text = "".join(f"{line}\n" for line in lines)
        if text != self._shown:
            new = self._file.with_suffix(".new")
            new.write_text(text, encoding="ascii")
            new.chmod(0o644)
            os.replace(new, self._file)
            self._shown = text

    def end(self) -> None:
        """End the process."""
        self._lock.release()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _start(self) -> None:
        file = self._program.stat()
        is_own = file.st_uid == os.geteuid()
        # The program waits until another one opens this pipe.
        pipe = self._file.with_suffix("")
        with contextlib.suppress(FileExistsError):
            os.mkfifo(pipe)
            pipe.chmod(0o644)
        self._process = subprocess.Popen(
            [str(self._program), self._name], cwd=pipe.parent, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, user=None if is_own else file.st_uid, group=None if is_own else file.st_gid,
            extra_groups=None if is_own else (),
        )  # fmt: skip
        while not self._lock.take():  # another process checks the lock at this moment
            time.sleep(0.001)
        started = self._file.with_suffix(".started")
        started.write_text(f"{time.time():.0f}\n", encoding="ascii")
        started.chmod(0o644)
