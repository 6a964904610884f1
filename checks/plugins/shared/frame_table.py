"""The histogram of the frames of private NICs by size, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from checks.model.finding import Table
from checks.plugins.shared.grouping import alike
from checks.rules.frame_sizes import FrameSizes
from checks.rules.size_classes import SizeClass

_BAR = 10


def frame_table(same: Sequence[FrameSizes]) -> Table:
    """Return a row for each size of each NIC that has frames of that size, with its share each way and as a bar."""
    rows = []
    for nic in alike(same, lambda found: found.nic.place):
        ways = {found.way: {size.label: (found, size) for size in found.classes} for found in nic}
        ends = {size.label: size.high or size.low for found in nic for size in found.classes if size.frames}
        for label in sorted(ends, key=lambda name: ends[name]):
            cells = [nic[0].nic.place, label]
            for way in ("rx", "tx"):
                if found := ways.get(way, {}).get(label):
                    cells += [_share(*found) if found[1].frames else "-", _bar(found[0].percent(found[1]))]
                else:
                    cells += ["?", ""]
            rows.append(tuple(cells))
    legend = "Shares of the frames, in and out. # is 10 %, ? is not counted."
    return Table(("NIC", "bytes", "in", "", "out", ""), tuple(rows), legend)


def _share(found: FrameSizes, size: SizeClass) -> str:
    percent = found.percent(size)
    return f"{percent:.1f} %" if percent >= 0.1 else "<0.1 %"


def _bar(percent: float) -> str:
    return ("#" * round(percent * _BAR / 100)).ljust(_BAR, ".") if percent else ""
