"""Cuts of one cable of the running practice cluster, with `racwire drill link` and fping beside each other.

`python -m bench.programs.drill_cuts` prints a line of JSON for each cut: how long the interruption was at least and at
most, and what racwire (pings, UDP) and fping -o said, in seconds. `--down` sets the port of the switch down in place of
dropping packets; the silence then lasts longer than the cut, until the kernel asks by ARP again.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import racwire_lab
from tests.support.switch_cuts import Cut, SwitchPort

LENGTHS_S = (0.05, 0.06, 0.08, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9, 1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 10.0)
"""20 cuts from 50 ms to 10 s."""
INTERVAL_S, MORE_S = 0.01, 0.005
"""What a silence may be off: an interval, and 5 ms more at its end."""
_PAUSE_S = 1.5
"""Seconds between two cuts: until ARP has asked again."""
_OUTAGE = re.compile(r"outage\(ms\)\s*=\s*(\d+)")


class CutFigure(NamedTuple):
    """One cut, and what each tool said of it; None where it said nothing."""

    least_s: float
    most_s: float
    pings_s: float | None
    udp_s: float | None
    fping_s: float | None

    def is_exact(self, seconds: float | None) -> bool:
        """Whether a figure is right to an interval, and 5 ms more."""
        return seconds is not None and self.least_s - INTERVAL_S <= seconds <= self.most_s + INTERVAL_S + MORE_S


def cuts(lengths_s: Sequence[float] = LENGTHS_S, *, is_down: bool = False) -> Iterator[CutFigure]:
    """Cut eth2 of rac2 of the running practice cluster, so many times, and yield the figures of each cut.

    Raises RuntimeError where no practice cluster runs, or the drill fails.
    """
    lab = racwire_lab.find()
    if lab is None:
        raise RuntimeError("no practice cluster runs: racwire lab up")
    port = SwitchPort(lab, "rac2", "eth2")
    whole_s = sum(lengths_s) + (4 * _PAUSE_S + 1) * len(lengths_s) + 5
    with subprocess.Popen(
        [
            *(sys.executable, "-P", "-m", "racwire", "drill", "link", "eth2", "of", "rac2"),
            *("--lab", "--go", "practice"),
            *("--for", f"{whole_s:.0f}s", "--format", "json", "--although-loaded", "a bench"),
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as drill:
        assert drill.stderr is not None
        said = ""
        while " now." not in said:
            line = drill.stderr.readline()
            if not line:
                raise RuntimeError(said.strip())
            said = line
        made: list[tuple[Cut, float | None]] = []
        for seconds in lengths_s:
            time.sleep(_PAUSE_S)
            made.append(_cut(lab, port, seconds, is_down=is_down))
        out, _ = drill.communicate(timeout=whole_s + 60)
    result = json.loads(out)
    silences = [(result["paths"][one["path"]], one) for one in result["result"]["silences"]]
    pings = next(one for path, one in silences if path["network"] == "192.168.11.0/24")
    udp = next((one for path, one in silences if path.get("is_haip") and path["interface"] == "eth2"), None)
    for cut, fping_s in made:
        yield CutFigure(cut.least_s, cut.most_s, _told(pings, cut), udp and _told(udp, cut), fping_s)


def _cut(lab: racwire_lab.Lab, port: SwitchPort, seconds: float, *, is_down: bool) -> tuple[Cut, float | None]:
    """Make one cut while fping runs; return also the outage that fping counts."""
    count = int((seconds + 2 * _PAUSE_S) / INTERVAL_S)
    fping = None
    if shutil.which("fping"):
        words = ["fping", "-o", "-q", "-p", "10", "-t", "200", "-c", str(count), "192.168.11.2"]
        fping = subprocess.Popen(
            lab.enter("rac1", words),
            env={**os.environ, **lab.environment("rac1")},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        time.sleep(0.5)
    cut = port.down(seconds) if is_down else port.dropping(seconds)
    if fping is None:
        return cut, None
    printed, _ = fping.communicate(timeout=seconds + 60)
    outage = _OUTAGE.search(printed)
    return cut, None if outage is None else int(outage[1]) / 1000


def _told(silence: dict[str, Any], cut: Cut) -> float | None:
    """Return the longest silence that began about when the cut did."""
    near = [seconds for at, seconds in silence.get("every", ()) if cut.before_s - 0.1 <= at <= cut.after_s + 0.1]
    return max(near, default=None)


def main() -> None:
    """Make the cuts, and print their figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--down", action="store_true", help="set the port down")
    parser.add_argument("seconds", nargs="*", type=float, help="lengths of the cuts (default: 20 from 0.05 to 10)")
    args = parser.parse_args()
    for figure in cuts(args.seconds or LENGTHS_S, is_down=args.down):
        exact = {
            f"is_{name}_exact": figure.is_exact(getattr(figure, f"{name}_s")) for name in ("pings", "udp", "fping")
        }
        print(
            json.dumps(
                {name: value if value is None else round(value, 4) for name, value in figure._asdict().items()} | exact
            )
        )


if __name__ == "__main__":
    main()
