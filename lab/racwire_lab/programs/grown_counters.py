"""Write files of a kernel with counters that grow faster: `python grown_counters.py ORDERS GENERATION [once]`.

ORDERS is a JSON file that names the files and the faults. The program ends when the file has another generation, or is
gone with the practice cluster. It needs only the standard library and imports nothing of racwire.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import TypedDict

_EVERY_S = 0.2
_STEAL_SHARE = 0.7
"""Ticks of steal for each tick of elapsed time: 41 % of the sum, more than most hypervisors take from a machine that
runs the practice cluster."""
_TICKS_A_SECOND = 100
_PAGES = {"pswpin": 6000, "pswpout": 8000, "allocstall_normal": 50, "allocstall_movable": 0, "allocstall": 50}
_COUNTER = re.compile(r"counter (\S+) \{\s+packets (\d+)")
_STEAL_COLUMN = 8


class Order(TypedDict):
    """One file."""

    fault: str
    path: str
    counters: list[str]
    written: str


def main(argv: Sequence[str]) -> int:
    """Write all files until the orders change."""
    orders, generation, *once = argv
    started = time.monotonic()
    while (files := _orders(orders, generation)) is not None:
        counted = _counted() if any(order["counters"] for order in files) else {}
        for order in files:
            text = _text(order, 0.0 if once else time.monotonic() - started, counted)
            # In one call and without truncation, so that no reader sees a part: the counters only grow.
            handle = os.open(order["written"], os.O_WRONLY)
            os.pwrite(handle, text.encode(), 0)
            os.close(handle)
        if once:
            return 0
        time.sleep(_EVERY_S)
    return 0


def _orders(path: str, generation: str) -> list[Order] | None:
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return None
    files: list[Order] = found["files"]
    return files if found["generation"] == generation and files else None


def _counted() -> dict[str, int]:
    """What the rules of the switch dropped, in packets, by name. Nothing where they are just replaced."""
    command = ["nft", "list", "counters", "table", "bridge", "racwire"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return {name: int(packets) for name, packets in _COUNTER.findall(done.stdout)}


def _text(order: Order, elapsed_s: float, counted: dict[str, int]) -> str:
    if order["counters"]:
        return f"{sum(counted.get(name, 0) for name in order['counters'])}\n"
    with open(order["path"], encoding="ascii") as file:
        lines = file.read().splitlines()
    grown = _stolen if order["fault"] == "steal" else _swapped
    return "".join(f"{grown(line, elapsed_s)}\n" for line in lines)


def _stolen(line: str, elapsed_s: float) -> str:
    words = line.split(" ")
    if not line.startswith("cpu"):
        return line
    column = _STEAL_COLUMN + (words[1] == "")  # two blanks follow the name of all CPUs together
    cpus = (os.cpu_count() or 1) if words[0] == "cpu" else 1
    words[column] = str(int(words[column]) + int(cpus * elapsed_s * _TICKS_A_SECOND * _STEAL_SHARE))
    return " ".join(words)


def _swapped(line: str, elapsed_s: float) -> str:
    name, _, value = line.partition(" ")
    return f"{name} {int(value) + int(_PAGES[name] * elapsed_s)}" if name in _PAGES else line


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
