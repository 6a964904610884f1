"""Runs lines in a real `sh` in which every program is a stub that notes its words: what a shell makes of a line.

The shell is confined to a directory (chroot), so that absolute paths lead to stubs and to nothing else, and
redirections write nowhere else. Its environment is empty but for PATH. A stub of ssh gives its words to a further
shell, as the far end does; one of sudo, env, nice and timeout runs the command that follows.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

_NOTE = """#!/bin/sh
printf '%s\\0' "$#" "$0" "$@" >> /noted
"""
_SSH = (
    _NOTE
    + """while [ $# -gt 0 ]; do
  case $1 in -o|-p|-i|-l) shift; shift ;; -*) shift ;; *) break ;; esac
done
[ $# -gt 1 ] || exit 0
shift
exec /bin/sh -c "$*"
"""
)
_RUNNER = (
    _NOTE
    + """while [ $# -gt 0 ]; do
  case $1 in -u) shift; shift ;; -*|[0-9]*|[A-Za-z_]*=*) shift ;; *) break ;; esac
done
[ $# -gt 0 ] || exit 0
exec "$@"
"""
)
_RUNNERS = ("sudo", "env", "nice", "timeout")
_DIRECTORIES = ("bin", "stubs", "work", "tmp", "etc", "dev", "proc", "sys", "var", "root")
_PROGRAM = re.compile(r"(?<![\w./-])[A-Za-z][\w.+-]*")
_SECONDS = 2
"""The most CPU time of a line."""


@dataclass(frozen=True)
class Ran:
    """What a shell made of a line."""

    line: str
    calls: tuple[tuple[str, ...], ...]
    """The words of each program that it called, with the program itself."""


class StubShell:
    """A directory with a shell and stubs."""

    def __init__(self, root: Path, canary: str) -> None:
        """`canary` is a further program: whoever calls it obeyed a value."""
        self.root = root
        self.canary = canary
        for name in _DIRECTORIES:
            (root / name).mkdir()
        for file in ("/bin/sh", *_libraries()):
            (root / file[1:]).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, root / file[1:])
        for name, text in (("stub", _NOTE), ("ssh", _SSH), ("runner", _RUNNER)):
            (root / name).write_text(text)
            (root / name).chmod(0o755)
        (root / "nothing").touch()
        self.ran: dict[str, Ran] = {}
        """What was run so far, by line."""
        self._own = {*self._files(), "noted", "driver"}

    def run(self, lines: Sequence[str]) -> list[Ran]:
        """Run each line in a shell of its own. Raises CalledProcessError where the driver itself fails."""
        for name in {self.canary, *(name for line in lines for name in _PROGRAM.findall(line))}:
            self._stub(f"/stubs/{name}", name)
        for word in {word for line in lines for word in _words(line) if word.startswith("/") and "bin/" in word}:
            self._stub(word, word.rpartition("/")[2])
        self._own |= {file for file in self._files() if (self.root / file).is_symlink()}
        driver = ["PATH=/stubs", "export PATH"]
        for line in lines:
            driver += ["printf 'line\\0' >> /noted", f"( cd /work && ulimit -t {_SECONDS} && exec /bin/sh -c "
                       f"{shlex.quote(line)} ) < /nothing > /nothing 2>&1"]  # fmt: skip
        (self.root / "driver").write_bytes("\n".join([*driver, "exit 0", ""]).encode(errors="surrogateescape"))
        (self.root / "noted").write_bytes(b"")
        confined = [*_confinement(), "chroot", str(self.root), "/bin/sh", "/driver"]
        subprocess.run(confined, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}, timeout=300, check=True)
        done = list(_read((self.root / "noted").read_bytes(), lines))
        self.ran |= {one.line: one for one in done}
        return done

    def written(self) -> list[str]:
        """Return the files that lines have written, from the root of the shell."""
        return sorted(self._files() - self._own)

    def _files(self) -> set[str]:
        found = self.root.rglob("*")
        return {str(path.relative_to(self.root)) for path in found if path.is_symlink() or not path.is_dir()}

    def _stub(self, path: str, program: str) -> None:
        """Make a stub there; not where a name of a file has no room for it."""
        kind = "ssh" if program == "ssh" else "runner" if program in _RUNNERS else "stub"
        place = self.root / path.lstrip("/")
        with suppress(OSError, ValueError):
            if place.resolve().is_relative_to(self.root) and not place.exists() and place != self.root / "bin/sh":
                place.parent.mkdir(parents=True, exist_ok=True)
                place.symlink_to(f"/{kind}")


def _words(line: str) -> list[str]:
    with suppress(ValueError):
        return shlex.split(line)
    return []


def _read(noted: bytes, lines: Sequence[str]) -> Iterable[Ran]:
    fields = iter(noted.decode(errors="surrogateescape").split("\0")[:-1])
    calls: list[list[tuple[str, ...]]] = []
    for field in fields:
        if field == "line":
            calls.append([])
        else:
            calls[-1].append(tuple(next(fields) for _ in range(int(field) + 1)))
    assert len(calls) == len(lines)
    return (Ran(line, tuple(each)) for line, each in zip(lines, calls, strict=True))


@cache
def _libraries() -> tuple[str, ...]:
    printed = subprocess.run(["ldd", "/bin/sh"], capture_output=True, text=True, check=False).stdout
    return tuple(re.findall(r"(/\S+) \(0x", printed))


@cache
def _confinement() -> tuple[str, ...]:
    """Return what gives the right to chroot: nothing for root, else a user namespace. Skips the test without one."""
    for how in ((), ("unshare", "--map-root-user")):
        with suppress(OSError):
            tried = subprocess.run([*how, "chroot", "/", "/bin/sh", "-c", ":"], capture_output=True, check=False)
            if tried.returncode == 0:
                return how
    pytest.skip("needs root or user namespaces to confine a shell")
