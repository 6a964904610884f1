"""Read the counters that the drivers of private NICs count in addition to the kernel, twice; only growth is a fact."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from checks.model.facts import DriverCounters, Unknown
from checks.model.journal import Journal
from checks.rules.size_classes import STANDARD, class_of
from checks.sources.nic_drivers import (
    DRIVER_COUNTERS,
    DRIVER_MARK,
    LEAST_APART_S,
    NIC_MARK,
    NO_ETHTOOL,
    STANDARD_MARK,
    queried,
)
from checks.sources.nodes.session import Session
from checks.sources.nodes.shell import Shell, ShellError
from checks.sources.nodes.system_difference import grown_by

_COUNTER = re.compile(r"\s*(.*\S)\s*:\s*([0-9]{1,20})\s*", re.ASCII)
_STANDARD_TEXT = re.compile(rf"([rt]x{STANDARD}etherStatsPkts\w{{2,20}}?Octets):([0-9]{{1,20}})", re.ASCII)
_STANDARD_JSON = re.compile(r'"([rt]x)-pktsNtoM":(\[[^\]]{0,4000}\])', re.ASCII)
_BUCKET = re.compile(
    r'\{(?=[^}]*"val":([0-9]{1,20}))(?:[^}]*"low":([0-9]{1,6}))?(?:[^}]*"high":([0-9]{1,6}))?', re.ASCII
)

DriverReading = Mapping[str, DriverCounters]
"""The totals of each NIC that has counters, by its name."""


async def ask_drivers(session: Session, node: str, interval_s: float, nics: Sequence[str]) -> DriverReading | Unknown:
    """Read the counters at one end of an interval; Unknown where it is too short for a second query, or the node fails.

    The kernel's counters do not depend on them.
    """
    if interval_s < LEAST_APART_S:
        return Unknown(f"The interval is under {LEAST_APART_S} s, the least from one query of a driver to the next.")
    limit_s = max(session.settings.ssh.read_timeout_s, DRIVER_COUNTERS.limit_s or 0)
    try:
        return await read_driver_counters(await session.shell(node), session.journal, nics, limit_s)
    except ShellError as error:
        return Unknown(str(error), error.right)


async def read_driver_counters(
    shell: Shell, journal: Journal, nics: Sequence[str], timeout_s: float
) -> DriverReading | Unknown:
    """Read the counters of the drivers of these NICs; Unknown where the node has no ethtool.

    Raises ShellError where the node does not answer.
    """
    names = queried(nics)
    if not names:
        return Unknown("The private NICs of the node are not known.")
    with journal.entry(shell.node, DRIVER_COUNTERS.topics[0], DRIVER_COUNTERS.action_on(*names)) as entry:
        entry.text = (await shell.run(DRIVER_COUNTERS, *names, timeout_s=timeout_s)).text
        reading = parse_driver_counters(entry.text)
        if isinstance(reading, Unknown):
            entry.outcome = reading.reason
        return reading


def parse_driver_counters(text: str) -> DriverReading | Unknown:
    """Parse the output of the program `driver counters`: the name of each NIC, then lines of `ethtool -S`.

    A driver may print a name once for each queue (vmxnet3): these counts are added up.
    """
    names: list[str] = []
    drivers: dict[str, str] = {}
    counts: dict[str, dict[str, int]] = {}
    for line in text.split("\n"):
        if line.strip() == NO_ETHTOOL:
            return Unknown("The node has no ethtool.")
        if line.startswith(NIC_MARK):
            names.append(line.removeprefix(NIC_MARK).strip())
        elif not names:
            continue
        elif line.startswith(DRIVER_MARK):
            drivers[names[-1]] = line.removeprefix(DRIVER_MARK).strip()
        elif line.startswith(STANDARD_MARK):
            if groups := dict(_standard_groups(line)):
                counts.setdefault(names[-1], {}).update(groups)
        elif counter := _COUNTER.fullmatch(line):
            own = counts.setdefault(names[-1], {})
            own[counter[1]] = own.get(counter[1], 0) + int(counter[2])
    return {nic: DriverCounters(nic, own, drivers.get(nic, "")) for nic, own in counts.items()}


def _standard_groups(line: str) -> Iterator[tuple[str, int]]:
    """The counters of frames by size in the answer of `ethtool --json -S NIC --groups rmon`, as JSON or as text.

    Both have the names of the text; blanks and line ends are removed.
    """
    yield from ((name, int(count)) for name, count in _STANDARD_TEXT.findall(line))
    for way, buckets in _STANDARD_JSON.findall(line):
        for count, low, high in _BUCKET.findall(buckets):
            # An upper end of 0 stands for none.
            ends = f"{int(low or 0)}to{int(high)}" if high and int(high) else f"{int(low or 0)}toMax"
            yield f"{way}{STANDARD}etherStatsPkts{ends}Octets", int(count)


def driver_growth(
    before: DriverReading | Unknown, after: DriverReading | Unknown
) -> tuple[DriverCounters, ...] | Unknown:
    """Return the growth of the drivers' counters that grew, for each NIC with counters at both readings."""
    if isinstance(before, Unknown):
        return before
    if isinstance(after, Unknown):
        return after
    grown = (_grown(old, now) for nic, now in after.items() if (old := before.get(nic)))
    return tuple(grown) or Unknown("The drivers of the private NICs report no counters of errors or of frames by size.")


def _grown(before: DriverCounters, after: DriverCounters) -> DriverCounters:
    both = {name: grown_by(before.counts[name], n) for name, n in after.counts.items() if name in before.counts}
    fell = any(grown is None and class_of(name) for name, grown in both.items())
    counts = {
        name: grown
        for name, grown in both.items()
        if grown is not None and (not fell if class_of(name) else bool(grown))
    }
    return replace(before, counts=counts, sizes_fell=fell)
