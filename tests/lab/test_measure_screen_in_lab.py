"""The Measure screen in a terminal, on the practice cluster: an operator sends, stops it, and loses the terminal."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab.lab_support import needs_namespaces, run, until
from tests.lab.practice_command import Practice
from tests.tui.terminal import RACWIRE, Terminal

pytestmark = [pytest.mark.lab, pytest.mark.beyond_sample, needs_namespaces]

_SEQUENCE = re.compile(r"\x1b\[([0-9;?<>=]*)([A-Za-z])|\x1b[()][A-Z0-9]|\x1b[=>78]|([^\x1b]+)|\x1b")


class ScreenReader:
    """What a VT100 of 80x24 shows: cursor movements and text; colours and modes do not matter here."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    def rows(self) -> list[str]:
        cells = [[" "] * 80 for _ in range(24)]
        row = column = 0
        for found in _SEQUENCE.finditer(self._terminal.seen.decode(errors="replace")):
            numbers, end, text = found.groups()
            if end == "H":
                row, column = (int(number) - 1 for number in (numbers or "1;1").split(";"))
            for sign in text or "":
                if sign.isprintable() and row < 24 and column < 80:
                    cells[row][column] = sign
                    column += 1
        return ["".join(row).rstrip() for row in cells]

    def until(self, pattern: str) -> str:
        """Wait until a row matches. Return the row."""

        def matching() -> str:
            self._terminal.seen += self._terminal.read_until_quiet(0.05)
            return next((row for row in self.rows() if re.search(pattern, row)), "")

        return until(matching, f"nothing shows {pattern}:\n" + "\n".join(self.rows()))


@pytest.fixture(scope="module")
def practice(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Practice]:
    one = Practice(tmp_path_factory.mktemp("measure-screen") / "lab", 2, 1500)
    yield one
    one.down()


@pytest.fixture
def console(practice: Practice, tmp_path: Path) -> Iterator[Terminal]:
    """A console whose measurement a busy machine neither refuses nor stops."""
    settings = tmp_path / "settings.toml"
    settings.write_text(
        "[measure]\nloaded_cpu_percent = 100\nmost_cpu_percent = 100\n[sampling]\ninterval_without_database_s = 1\n"
    )
    environment = {**practice.environment, "XDG_STATE_HOME": str(tmp_path), "TERM": "vt100", "LANG": "C.UTF-8"}
    terminal = Terminal(environment, [*RACWIRE, "--lab", "--settings", str(settings)])
    yield terminal
    terminal.close()


def kept(directory: Path) -> list[Path]:
    return sorted(directory.glob("racwire/measurements/practice/sizes-*.json"))


def nothing_is_left(practice: Practice) -> None:
    for node in ("rac1", "rac2"):
        until(
            lambda node=node: "@racwire-measure" not in run(practice.cluster, node, "cat", "/proc/net/unix").stdout,  # type: ignore[misc]
            f"a part of the measurement runs on {node}",
        )


def packets_out(practice: Practice) -> int:
    return int(run(practice.cluster, "rac1", "cat", "/sys/class/net/eth1/statistics/tx_packets").stdout)


def sends(practice: Practice, console: Terminal, screen: ScreenReader) -> None:
    """Type the name of the cluster, and wait until packets leave."""
    screen.until(r"g measure")
    screen.until(r"It takes up to|Last  ")
    screen.until(r"Nothing is sent before|stopped after")
    console.send(b"g")
    screen.until(r"Cluster +type the name")
    console.send(b"practice\r")
    screen.until(r"^ SENDING [\d.]+ [kM]?b/s to rac2 on 192\.168\.10\.0/24 +[1-9]\d* of \d+ .*s stops")
    before = packets_out(practice)
    until(lambda: packets_out(practice) > before + 100, "nothing is sent")


def test_an_operator_types_the_name_and_s_stops_it(practice: Practice, console: Terminal, tmp_path: Path) -> None:
    screen = ScreenReader(console)
    screen.until(r"\[1 Checks\]")
    console.send(b"7")
    screen.until(r"Nothing is sent before")
    console.send(b"g")
    screen.until(r"Cluster +type the name")
    console.send(b"prac\r")
    screen.until(r"This cluster is called practice, not prac")
    console.send(b"\x1b")
    sends(practice, console, screen)
    console.send(b"2")
    screen.until(r"\[2 Paths\]")
    assert screen.rows()[0].endswith("SENDING sizes")
    console.send(b"7")
    screen.until(r"\[7 Measure\]")
    console.send(b"s")
    screen.until(r"^ sizes stopped after .*, because the operator stopped it\.")
    nothing_is_left(practice)
    assert len(kept(tmp_path)) == 1
    console.send(b"\r")
    screen.until(r"It ended early\. The operator stopped it\.")
    console.send(b"qq")
    assert console.ended() in (0, 1, 2, 3)


def test_a_lost_terminal_stops_it_and_what_was_measured_is_kept(
    practice: Practice, console: Terminal, tmp_path: Path
) -> None:
    screen = ScreenReader(console)
    screen.until(r"\[1 Checks\]")
    console.send(b"7")
    screen.until(r"\[7 Measure\]")
    sends(practice, console, screen)
    os.close(console.master)
    until(lambda: console.process.poll() is not None, "racwire outlives its terminal")
    nothing_is_left(practice)
    assert len(kept(tmp_path)) == 1
