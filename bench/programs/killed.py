"""Kill racwire in each phase of its work, and look at what it leaves on the nodes and in the database.

    python -m bench.programs.killed [--only WORD]

It also sets the clock back an hour for racwire alone (with `faketime`), fills its disk, and lets each write take 5 s
(with `strace`). It prints what was left two seconds after racwire's end, and when the last of it was gone.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

import psutil

from bench.home import RACWIRE, new_user
from bench.instruments import FAR, NEAR, far_ends, processes
from bench.live import use_of
from bench.practice import inside, practice_cluster, start_racwire
from bench.receivers import kernel_values
from bench.terminal import LARGE, Terminal
from racwire_lab import Lab

_LOOK_S, _PATIENCE_S, _START_S = 2.0, 60.0, 90.0
_SLOW_S = 5
_FAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1"
_GO = ("--go", "practice", "--although-loaded", "bench")
_SIZES = ("measure", "sizes", "--sizes", "8k", "--no-trains", "--rounds", "60", "--far-end", "perl", *_GO)


@dataclass
class Seen:
    """What is on the nodes and in the database, without what was there before racwire."""

    things: set[str] = field(default_factory=set)
    sessions: int = 0

    def __sub__(self, other: Seen) -> Seen:
        return Seen(self.things - other.things, self.sessions - other.sessions)

    def __bool__(self) -> bool:
        return bool(self.things) or self.sessions > 0

    def __str__(self) -> str:
        sessions = [f"{self.sessions} sessions in the database"] if self.sessions > 0 else []
        return ", ".join([*sorted(self.things), *sessions]) or "nothing"


def seen(lab: Lab, home: Path) -> Seen:
    """Return the processes, sockets, ports and files of all nodes, and the sessions of all instances.

    The files are those of racwire's user and of /tmp: a recording, a report or a result is one of them.
    """
    found = Seen()
    for node in lab.nodes:
        holder = lab.state.nodes[node].pid
        for process in processes(lab, node):
            with contextlib.suppress(psutil.Error):
                found.things.add(f"process {psutil.Process(process).name()} {process} on {node}")
        network = Path(f"/proc/{holder}/net")
        for line in (network / "unix").read_text(encoding="utf-8", errors="replace").splitlines()[1:]:
            if len(words := line.split()) > 7 and words[7].startswith("@"):
                found.things.add(f"socket {words[7]} on {node}")
        for name, state in (("tcp", "0A"), ("tcp6", "0A"), ("udp", "07"), ("udp6", "07")):
            for line in (network / name).read_text(encoding="ascii").splitlines()[1:]:
                words = line.split()
                if words[3] == state:
                    found.things.add(f"{name} port {int(words[1].rpartition(':')[2], 16)} on {node}")
    found.things |= {f"file ~/{file.relative_to(home)}" for file in home.rglob("*") if file.is_file()}
    shared = Path(tempfile.gettempdir()).glob("*racwire*")
    found.things |= {f"file {file}" for file in shared if file.is_file()}
    found.sessions = _sessions(lab)
    return found


def _pings(lab: Lab) -> int:
    values = kernel_values(lab.state.nodes[FAR].pid)
    return values["Icmp.InEchos"] + values["Udp.NoPorts"]


def _guests(lab: Lab) -> int:
    return len(processes(lab, FAR))


def _sessions(lab: Lab) -> int:
    return sum(use_of(lab, node)[1] for node in lab.nodes)


def _far_ends(lab: Lab) -> int:
    return len(far_ends(lab))


def _senders(lab: Lab) -> int:
    return len(processes(lab, NEAR, b"near_end."))


@dataclass(frozen=True)
class Phase:
    """A phase of racwire: its command, and what grows on the nodes when it has begun. The words name files in `~`."""

    name: str
    words: tuple[str, ...]
    begins: Callable[[Lab], int]
    after_s: float = 0.0
    """Seconds from the start of the phase to the kill."""


PHASES = (
    Phase("check, reading nodes", ("check", "-q"), _guests),
    Phase("check, probing", ("check", "-q"), _pings),
    Phase("watch, sampling the database", ("watch", "-q"), _sessions, 2.0),
    Phase("record", ("record", "-q", "~/kept.rec"), _sessions, 3.0),
    Phase("measure, preparing", _SIZES, _guests),
    Phase("measure, far ends open", _SIZES, _far_ends),
    Phase("measure, sending", _SIZES, _senders, 1.0),
    Phase("drill", ("drill", "link", "--for", "60s", "--far-end", "perl", *_GO), _senders, 1.0),
    Phase("console", (), _sessions, 3.0),
)
_SHORT_SIZES = ("measure", "sizes", "--rounds", "1", "--far-end", "perl", "-o", "~/disk/sizes.txt", *_GO)
_WRITES = {
    "watch": ("watch", "-q", "--for", "12s"),
    "check": ("check", "-q", "-o", "~/disk/check.txt"),
    "record": ("record", "-q", "--for", "12s", "~/disk/kept.rec"),
    "measure sizes": _SHORT_SIZES,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print the table. Return 0 whatever was left."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.programs.killed", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--only", default="", metavar="WORD", help="only the rows with this word in their name")
    args = parser.parse_args(arguments)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)
    try:
        with new_user() as environment, practice_cluster(2, mtu=1500) as lab:
            home = Path(environment["HOME"])
            environment["TMPDIR"] = str(home)
            for row in _rows(lab, environment, home, args.only):
                print("\n    ".join(row), flush=True)
    except KeyboardInterrupt:
        return 130
    return 0


def _end(number: int, frame: FrameType | None) -> None:
    """Act as Ctrl-C, so that the cluster is removed."""
    raise KeyboardInterrupt


def _rows(lab: Lab, environment: dict[str, str], home: Path, only: str) -> Iterator[tuple[str, ...]]:
    for phase in PHASES:
        if only in (name := f"kill -9: {phase.name}"):
            yield name, *_killed(lab, phase, environment, home)
    for word, words in _WRITES.items():
        for trouble, run in (
            ("clock set back an hour", _set_back),
            ("full disk", _on_full_disk),
            ("slow disk", _on_slow_disk),
        ):
            has_file = any("~" in one for one in words)
            if only in (name := f"{trouble}: {word}") and (has_file or run is _set_back):
                before = seen(lab, home)
                yield name, *run(lab, environment, home, _at_home(words, home)), *_left(lab, home, before)
                shutil.rmtree(home / "disk", ignore_errors=True)


def _at_home(words: Sequence[str], home: Path) -> tuple[str, ...]:
    return tuple(word.replace("~", str(home)) for word in words)


def _killed(lab: Lab, phase: Phase, environment: dict[str, str], home: Path) -> Iterator[str]:
    before, begins = seen(lab, home), phase.begins(lab)
    words = _at_home(phase.words, home)
    with contextlib.ExitStack() as stack:
        if words:
            process = start_racwire(lab, NEAR, environment, words)
            stack.callback(_finish, process)
            waits = process.pid
        else:
            command = lab.enter(NEAR, [RACWIRE])
            terminal = stack.enter_context(Terminal(command, inside(lab, environment), LARGE))
            terminal.read_until("1 Checks", _START_S)
            waits = terminal.processes()[0].ppid()
        until = time.monotonic() + _START_S
        while phase.begins(lab) <= begins:
            if time.monotonic() > until:
                yield "the phase did not begin"
                return
            time.sleep(0.01)
        time.sleep(phase.after_s)
        there = seen(lab, home) - before
        [racwire] = psutil.Process(waits).children()
        racwire.kill()
        counts = {
            name: sum(one.startswith(name) for one in there.things) for name in ("process", "socket", "udp", "tcp")
        }
        counts["sessions"] = there.sessions
        yield f"before the kill: {', '.join(f'{number} {name}' for name, number in counts.items() if number)}"
        yield from _left(lab, home, before)
        if (home / "kept.rec").exists():
            yield f"the recording: {_opens(lab, environment, home / 'kept.rec')}"
            (home / "kept.rec").unlink()


def _finish(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def _opens(lab: Lab, environment: dict[str, str], file: Path) -> str:
    if not file.exists():
        return "no file"
    process = start_racwire(lab, NEAR, environment, ("watch", "-q", str(file)))
    lines, told = process.communicate()
    return (
        f"{file.stat().st_size:,} bytes, {lines.count(chr(10))} lines, exit {process.returncode} {_last(told)}".strip()
    )


def _left(lab: Lab, home: Path, before: Seen) -> Iterator[str]:
    """Yield what is there two seconds after the end, and when the last of it but files was gone."""
    ended = time.monotonic()
    time.sleep(_LOOK_S)
    left = seen(lab, home) - before
    yield f"left after {_LOOK_S:g} s: {left}"
    if not _passing(left):
        return
    while _passing(left) and time.monotonic() < ended + _PATIENCE_S:
        time.sleep(0.2)
        left = seen(lab, home) - before
    yield f"left after {time.monotonic() - ended:.0f} s: {left}"


def _passing(left: Seen) -> bool:
    return left.sessions > 0 or any(not thing.startswith("file") for thing in left.things)


def _set_back(lab: Lab, environment: dict[str, str], home: Path, words: Sequence[str]) -> Iterator[str]:
    """Set racwire's clock back while it works. The clock that nothing sets goes on."""
    if not Path(_FAKETIME).exists():
        yield "not measured: faketime is not installed here"
        return
    (home / "disk").mkdir()
    offset = lab.directory / "clock_offset"
    offset.write_text("+0", encoding="ascii")
    faked = {
        **environment,
        "LD_PRELOAD": _FAKETIME,
        "FAKETIME_TIMESTAMP_FILE": str(offset),
        "FAKETIME_NO_CACHE": "1",
        "DONT_FAKE_MONOTONIC": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "FAKETIME_FORCE_MONOTONIC_FIX": "0",  # with it, no thread waits for a time
    }
    process = start_racwire(lab, NEAR, faked, words)
    guests, until = _guests(lab), time.monotonic() + _START_S
    while _guests(lab) <= guests and process.poll() is None and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(_LOOK_S)
    offset.write_text("-1h", encoding="ascii")
    yield from _ended(process)
    yield from _written(lab, environment, home)


def _on_full_disk(lab: Lab, environment: dict[str, str], home: Path, words: Sequence[str]) -> Iterator[str]:
    """Run racwire with a full disk, which only it sees; for a recording it fills up soon. Then copy what is there."""
    (home / "disk").mkdir()
    (home / "copy").mkdir(exist_ok=True)
    room = "100" if "record" in words else "200"
    script = """
        mount -t tmpfs -o size=200k,mode=700 tmpfs "$HOME/disk"
        dd if=/dev/zero of="$HOME/disk/rest" bs=1k count=$0 2>/dev/null
        export XDG_STATE_HOME="$HOME/disk/state"
        "$@"
        ended=$?
        rm "$HOME/disk/rest"
        ls -lA "$HOME/disk" >"$HOME/copy/list"
        cp "$HOME"/disk/*.* "$HOME/copy/" 2>/dev/null
        exit $ended"""
    process = start_racwire(lab, NEAR, environment, words, ("unshare", "-m", "sh", "-c", script, room))
    yield from _ended(process)
    listed = (
        (home / "copy" / "list").read_text(encoding="utf-8").splitlines()[1:]
        if (home / "copy" / "list").exists()
        else []
    )
    yield f"on the disk: {', '.join(' '.join(line.split()[4:5] + line.split()[8:]) for line in listed) or 'nothing'}"
    if (kept := home / "copy" / "kept.rec").exists():
        yield f"the recording: {_opens(lab, environment, kept)}"
    shutil.rmtree(home / "copy")


def _on_slow_disk(lab: Lab, environment: dict[str, str], home: Path, words: Sequence[str]) -> Iterator[str]:
    """Let each write take 5 s until it is on the disk: without fsync, the kernel only notes it."""
    if shutil.which("strace") is None:
        yield "not measured: strace is not installed here"
        return
    (home / "disk").mkdir()
    through = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync,fdatasync"]
    through += ["-e", f"inject=fsync,fdatasync:delay_enter={_SLOW_S}s"]
    process = start_racwire(lab, NEAR, environment, words, through)
    yield from _ended(process)
    yield from _written(lab, environment, home)


def _ended(process: subprocess.Popen[str]) -> Iterator[str]:
    began = psutil.Process(process.pid).create_time()
    try:
        out, told = process.communicate(timeout=180)
    except subprocess.TimeoutExpired:
        _finish(process)
        yield "did not end within 180 s"
        return
    took_s, lines = time.time() - began, out.count("\n")
    yield f"exit {process.returncode} after {took_s:.0f} s, {lines} lines; it says: {_last(told)}"


def _written(lab: Lab, environment: dict[str, str], home: Path) -> Iterator[str]:
    for file in (home / "disk").glob("*.txt"):
        yield f"{file.name}: {file.stat().st_size:,} bytes"
    for file in (home / "disk").glob("*.rec"):
        yield f"{file.name}: {_opens(lab, environment, file)}"


def _last(text: str) -> str:
    return " / ".join(text.strip().splitlines()[-2:])[:400] or "nothing"


if __name__ == "__main__":
    sys.exit(main())
