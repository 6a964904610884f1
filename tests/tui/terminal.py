"""A console in a pseudo-terminal: its output byte by byte, and its end."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import subprocess
import sys
import termios
import time
from pathlib import Path

RACWIRE = [sys.executable, "-P", "-m", "racwire"]
PATIENCE_S = 60.0
"""Seconds after which a test gives up waiting: a busy machine must not fail it."""

LEAVE_ALTERNATE_SCREEN = b"\x1b[?1049l"


MADE_UP = """
import os, sys
from pathlib import Path
from tui.cli.streams import follow_locale
from tui.console.start import colours_in_doubt, encoding_of, prepare
prepare(os.environ)
follow_locale()
from checks.run.settings_file import load_settings
from tests.tui.clusters import UNCHANGING, black_hole, engine
from tests.tui.conftest import FakeFeed
from tui.console.app import ConsoleApp
from tui.terminal.driver import console_driver
encoding = encoding_of(load_settings(None), sys.__stderr__)
app = ConsoleApp(
    lambda check: engine(black_hole(), UNCHANGING),
    new_feed=FakeFeed,
    state_directory=Path(os.environ["HOME"]),
    encoding=encoding,
    terminal_colours=colours_in_doubt(os.environ),
    driver_class=console_driver(encoding),
)
app.run(mouse="nomouse" not in sys.argv)
"""
"""A console on a made-up cluster, which only the operator changes."""


def other_user(home: Path) -> dict[str, str]:
    """Return the environment of a user without any settings."""
    passed_on = {k: v for k, v in os.environ.items() if k in ("PATH", "PYTHONPATH")}
    return {**passed_on, "HOME": str(home), "TERM": "xterm-256color", "LANG": "C.UTF-8"}


class Terminal:
    """A console in a pseudo-terminal of 80x24."""

    def __init__(self, environment: dict[str, str], command: list[str] = RACWIRE) -> None:
        self.master, slave = pty.openpty()
        termios.tcsetwinsize(slave, (24, 80))
        self.before = termios.tcgetattr(slave)
        self.seen = b""
        self.process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, env=environment, start_new_session=True
        )
        os.close(slave)

    def read_until(self, wanted: bytes, within_s: float = PATIENCE_S) -> None:
        end = time.monotonic() + within_s
        while wanted not in self.seen:
            assert time.monotonic() < end, self.seen[-2000:]
            if select.select([self.master], [], [], 0.1)[0]:
                try:
                    self.seen += os.read(self.master, 65536)
                except OSError:
                    break

    def read_until_quiet(self, for_s: float = 0.7) -> bytes:
        """Return the output until the console has sent nothing for so long."""
        sent = b""
        end = time.monotonic() + PATIENCE_S
        while select.select([self.master], [], [], for_s)[0]:
            assert time.monotonic() < end, sent[-2000:]
            sent += os.read(self.master, 65536)
        return sent

    def ended(self) -> int:
        """Return the exit code after the end of the console; read its output meanwhile so that it can write."""
        end = time.monotonic() + PATIENCE_S
        while self.process.poll() is None:
            assert time.monotonic() < end, "still running"
            with contextlib.suppress(OSError):
                if select.select([self.master], [], [], 0.05)[0]:
                    self.seen += os.read(self.master, 65536)
        with contextlib.suppress(OSError):
            while select.select([self.master], [], [], 0.05)[0]:
                self.seen += os.read(self.master, 65536)
        return self.process.returncode

    def close(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self.master)
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def send(self, keys: bytes) -> None:
        """Press keys."""
        os.write(self.master, keys)
