"""Ctrl-C, SIGTERM and SIGHUP: the first ends a command in order, a second one ends it at once, whatever it is doing.

Each test runs the command as a process of its own, and waits for its output or actions, never for a time.
"""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

from checks.model.exit_codes import ExitCode
from checks.saved import open_saved
from tests.support.sampling import sampled
from tests.unit.saved_support import recording
from tui.cli.interrupts import STOPPING

ROOT = Path(__file__).parents[2]
FIRST = str(ROOT / "tests" / "fixtures" / "saved" / "first.racwire")
INTERRUPTED_LINE = f"racwire: {STOPPING}\n"
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PATIENCE_S = 20
"""Seconds to wait for an event; no test measures this time."""


def racwire(*words, before=None, **env):
    """Start the command as a process of its own; `before` runs in it before Python does."""
    return started([sys.executable, "-P", "-m", "racwire", *words], env, before)


def started(argv, env, before=None):
    return subprocess.Popen(
        argv, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=before,
        env={**os.environ, "PYTHONPATH": str(ROOT), **env},
    )  # fmt: skip


@pytest.fixture
def hanging_peer(tmp_path):
    """The environment in which no peer answers, and the file that exists when one is queried."""
    requested = tmp_path / "asked"
    os.mkfifo(requested)
    shell = tmp_path / "hangs"
    shell.write_text(f"#!/bin/sh\necho asked > {requested}\nexec sleep infinity\n")
    shell.chmod(0o755)
    return {"RACWIRE_RSH": str(shell), "asked": requested}


def wait_until_queried(hanging_peer):
    """Read a FIFO to its end, after a shell has opened it for writing. `save` starts two at nearly the same time: that
    of the run, and that of the samples."""
    assert {*hanging_peer["asked"].read_text().splitlines()} == {"asked"}


def insist(process, number):
    """Send the signal until the process has ended: one signal may come too early, right after the first."""
    while process.poll() is None:
        process.send_signal(number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.05)


def read_line(stream):
    """Return the next line; read byte by byte, since `select` does not see the content of a buffer."""
    line = b""
    while not line.endswith(b"\n"):
        assert select.select([stream], [], [], PATIENCE_S)[0]
        byte = os.read(stream.fileno(), 1)
        assert byte, f"it ended after {line!r}"
        line += byte
    return line.decode()


HANGING_DISK = """
import os, sys
from tui.cli.main import main

def fsync(handle):
    with open(sys.argv[1], "wb", buffering=0) as fifo:
        fifo.write(bytes(1))

os.fsync = fsync
sys.exit(main(sys.argv[2:]))
"""


class Disk:
    """A disk that does not answer: where a command flushes its file, it blocks in a full FIFO."""

    def __init__(self, path):
        os.mkfifo(path)
        self.path = path
        self._ends = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        with contextlib.suppress(BlockingIOError):
            while os.write(self._ends, bytes(4096)):
                pass

    def start(self, *words, **env):
        """Start the command as a process of its own, on this disk."""
        return started([sys.executable, "-P", "-c", HANGING_DISK, str(self.path), *words], env)

    def wait_until_opened(self, process):
        """Return when the process is about to write, or hangs in the write."""
        files = Path(f"/proc/{process.pid}/fd")
        while str(self.path) not in links(files):
            assert process.poll() is None
            select.select([], [], [], 0.01)

    def close(self):
        os.close(self._ends)


def links(directory):
    found = []
    for link in directory.iterdir():
        with contextlib.suppress(FileNotFoundError):
            found.append(os.readlink(link))
    return found


@pytest.fixture
def disk(tmp_path):
    hangs = Disk(tmp_path / "disk")
    yield hangs
    hangs.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_first_signal_prints_the_partial_result(number, hanging_peer):
    running = racwire("check", "--peer", "rac9", "--format", "json", RACWIRE_RSH=hanging_peer["RACWIRE_RSH"])
    wait_until_queried(hanging_peer)
    running.send_signal(number)
    running.send_signal(number)  # as `timeout` sends it: to the process, and to its group
    out, err = running.communicate(timeout=PATIENCE_S)
    assert (running.returncode, err) == (ExitCode.INTERRUPTED, INTERRUPTED_LINE)
    assert json.loads(out)["interrupted"]


def test_a_saved_file_has_the_results_until_the_first_signal(hanging_peer, tmp_path):
    file = tmp_path / "night.racwire"
    running = racwire("save", str(file), "--peer", "rac9", RACWIRE_RSH=hanging_peer["RACWIRE_RSH"])
    wait_until_queried(hanging_peer)
    running.send_signal(signal.SIGINT)
    err = running.communicate(timeout=PATIENCE_S)[1]
    assert running.returncode == ExitCode.INTERRUPTED
    assert err.startswith(INTERRUPTED_LINE)
    with open_saved(file) as opened:
        assert opened.report.interrupted


def commands_that_write(file, tmp_path):
    recorded = str(recording(tmp_path / "a.rec"))
    other = str(recording(tmp_path / "b.rec"))
    return {
        "check": ["check", "--from", FIRST, "--format", "json", "--force", "-o", file],
        "report": ["report", "--from", FIRST, "--format", "html", "--force", "-o", file],
        "save": ["save", "--from", FIRST, "--force", file],
        "compare": ["compare", recorded, other, "--force", "-o", file],
        "diff": ["diff", FIRST, FIRST, "--format", "json", "--force", "-o", file],
    }


@pytest.mark.parametrize(
    ("command", "number"),
    sampled(
        product(("check", "report", "save", "compare", "diff"), (signal.SIGINT, signal.SIGTERM)),
        [("check", signal.SIGINT), ("save", signal.SIGTERM)],
    ),
)
def test_the_second_signal_ends_a_command_whose_disk_does_not_answer(command, number, disk, tmp_path):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    running = disk.start(*commands_that_write(str(tmp_path / "out"), tmp_path)[command], TMPDIR=str(temporary))
    disk.wait_until_opened(running)
    running.send_signal(number)
    while read_line(running.stderr) != INTERRUPTED_LINE:
        pass
    insist(running, number)
    assert running.returncode == ExitCode.INTERRUPTED
    assert os.listdir(temporary) == []
    running.communicate()


def test_the_second_signal_ends_a_command_that_is_stuck_after_an_ended_run(hanging_peer, disk, tmp_path):
    words = ["--peer", "rac9", "--format", "json", "-o", str(tmp_path / "out")]
    running = disk.start("check", *words, RACWIRE_RSH=hanging_peer["RACWIRE_RSH"])
    wait_until_queried(hanging_peer)
    running.send_signal(signal.SIGINT)
    assert read_line(running.stderr) == INTERRUPTED_LINE
    disk.wait_until_opened(running)
    insist(running, signal.SIGINT)
    assert running.returncode == ExitCode.INTERRUPTED
    running.communicate()


STUCK_RECORDING = """
import sys, time
from checks.traffic.recorder import Recorder
from tui.cli.main import main

def write(self, items):
    print("writes", flush=True)
    while True:
        time.sleep(0.1)

Recorder.write = write
sys.exit(main(sys.argv[1:]))
"""


def test_a_recording_whose_disk_does_not_answer_is_ended(tmp_path):
    """The first interrupt is enough: the report lists the files not written by then."""
    running = subprocess.Popen(
        [sys.executable, "-P", "-c", STUCK_RECORDING, "record", str(tmp_path / "a.rec")],
        text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert read_line(running.stdout) == "writes\n"
    running.send_signal(signal.SIGINT)
    err = running.communicate(timeout=PATIENCE_S)[1]
    assert running.returncode == ExitCode.COULD_NOT_TELL
    assert "the disk does not answer" in err


STUCK_IN_ORDER = """
import sys, time
from tui.cli.interrupts import graceful_stop

with graceful_stop(lambda: print("ends", flush=True)):
    print("runs", flush=True)
    while True:
        time.sleep(0.1)
"""


def stuck(before=None):
    running = subprocess.Popen(
        [sys.executable, "-P", "-c", STUCK_IN_ORDER], text=True, stdout=subprocess.PIPE, preexec_fn=before,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert read_line(running.stdout) == "runs\n"
    return running


@pytest.mark.parametrize(
    ("first", "second"),
    sampled(product(ENDING, repeat=2), [(one, one) for one in ENDING]),
)
def test_any_second_signal_ends_the_command(first, second):
    running = stuck()
    running.send_signal(first)
    assert read_line(running.stdout) == "ends\n"
    insist(running, second)
    assert (running.returncode, running.communicate()[0]) == (ExitCode.INTERRUPTED, "")


@pytest.mark.parametrize("ignored", [signal.SIGINT, signal.SIGHUP])
def test_an_ignored_signal_stays_ignored_and_sigterm_ends_the_command(ignored):
    """As SIGINT when a script starts a command with `&`, and SIGHUP under nohup."""
    running = stuck(lambda: signal.signal(ignored, signal.SIG_IGN))
    for _ in range(3):
        running.send_signal(ignored)
    running.send_signal(signal.SIGTERM)
    assert read_line(running.stdout) == "ends\n"
    insist(running, signal.SIGTERM)
    assert (running.returncode, running.communicate()[0]) == (ExitCode.INTERRUPTED, "")


LOADING = """
import signal, sys, threading

class Interrupts:
    def find_spec(self, name, path, target=None):
        if name == "argparse":
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Interrupts())
from racwire import main
sys.exit(main())
"""


def test_a_signal_during_imports_leaves_no_traceback():
    ran = subprocess.run(
        [sys.executable, "-P", "-c", LOADING], capture_output=True, text=True, timeout=PATIENCE_S, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert (ran.returncode, ran.stdout, ran.stderr) == (ExitCode.INTERRUPTED, "", "")
