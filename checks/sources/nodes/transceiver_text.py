"""Read the transceivers of private NICs: `ethtool -m`, which asks the module over its I2C bus and changes nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from checks.model.facts import (
    MissingRight,
    NodeOptics,
    OpticalLane,
    OpticalLimits,
    OpticalModule,
    UnreadModule,
    UnreadNode,
)
from checks.model.journal import Journal
from checks.model.shell_command import shell
from checks.sources.nic_drivers import EXIT_MARK, NIC_MARK, NO_ETHTOOL, OPTICS, OPTICS_RIGHT, USER_MARK, queried
from checks.sources.nodes.shell import Shell
from checks.sources.sh_text import TIMED_OUT

_FIELD = re.compile(r"\s*([^:]{1,60}?)\s*:\s?(.{0,200})")
_MILLIWATTS = re.compile(r"(-?[0-9]{1,6}(?:\.[0-9]{1,6})?)\s*mW\b", re.IGNORECASE | re.ASCII)
_DBM = re.compile(r"(-?(?:inf|[0-9]{1,4}(?:\.[0-9]{1,6})?))\s*dBm\b", re.IGNORECASE | re.ASCII)
_DEGREES = re.compile(r"(-?[0-9]{1,4}(?:\.[0-9]{1,6})?)\s*(?:degrees\s*)?C\b", re.ASCII)
_LANE = re.compile(r"\(chan(?:nel)?\s*([0-9]{1,2})\)", re.IGNORECASE | re.ASCII)
_SENT = re.compile(r"(laser output power|transmit avg optical power)", re.IGNORECASE)
_RECEIVED = re.compile(r"(receiver signal|rcvr signal)", re.IGNORECASE)
_LIMIT = re.compile(
    r"(laser output power|laser tx power|laser rx power|module temperature) (high|low) (alarm|warning) threshold",
    re.IGNORECASE,
)
_KIND = re.compile(r"0x[0-9a-f]{2}\s*\((\w[^(/)]{0,30}?)(?: Double Density[^()]*)?\s*(?:\(|\)|$)", re.IGNORECASE)
_COPPER = re.compile(r"copper|cu cmplnce|base-(?:c?t\b|c[rx]\d*|t$)|passive cable|twin axial", re.IGNORECASE)
_MOST_LANES = 16
_MOST_MW = 100.0
"""No module of Ethernet has more; more is damage in the text."""


async def read_optics(
    open_shell: Shell, journal: Journal, node: str, nics: Sequence[str], timeout_s: float
) -> NodeOptics | UnreadNode:
    """Read the modules of these NICs; UnreadNode where the node has no ethtool, or this user may not.

    Raises ShellError where the node does not answer.
    """
    names = queried(nics)
    if not names:
        return UnreadNode(node, "The private NICs of the node are not known.")
    with journal.entry(open_shell.node, OPTICS.topics[0], OPTICS.action_on(*names)) as entry:
        entry.text = (await open_shell.run(OPTICS, *names, timeout_s=max(timeout_s, OPTICS.limit_s or 0))).text
        found = parse_optics(entry.text, node)
        if isinstance(found, UnreadNode):
            entry.outcome = found.reason
        return found


def parse_optics(text: str, node: str) -> NodeOptics | UnreadNode:
    """Parse the output of the program `optics`: the name of each NIC, lines of `ethtool -m`, and its exit status."""
    parts: dict[str, list[str]] = {}
    name, is_root = "", True
    for line in text.split("\n"):
        if line.strip() == NO_ETHTOOL:
            return UnreadNode(node, "The node has no ethtool.")
        if line.startswith(USER_MARK) and not name:
            is_root = line.removeprefix(USER_MARK).strip() == "0"
        elif line.startswith(NIC_MARK):
            name = line.removeprefix(NIC_MARK).strip()
            parts.setdefault(name, [])
        elif name:
            parts[name].append(line)
    read = [_module(nic, lines) for nic, lines in parts.items()]
    modules = tuple(m for m in read if isinstance(m, OpticalModule))
    if not modules and not is_root:
        command = shell("ethtool -m {nic}", nic=next(iter(parts), "ETH"))
        right = MissingRight(f"{OPTICS_RIGHT} on {node}, to read a transceiver", (command,), f"root on {node}")
        return UnreadNode(node, "A transceiver is read by root alone.", right)
    return NodeOptics(node, modules, tuple(m for m in read if isinstance(m, UnreadModule)))


def _module(nic: str, lines: Sequence[str]) -> OpticalModule | UnreadModule:
    fields = list(_fields(lines))
    kinds = (_KIND.search(value) for name, value in fields if name == "identifier")
    kind = next((found[1].strip() for found in kinds if found), "")
    if not kind and not any(_SENT.search(name) or _RECEIVED.search(name) for name, _ in fields):
        is_late = f"{EXIT_MARK}{TIMED_OUT}" in lines
        return UnreadModule(nic, "did not answer in time" if is_late else "no module that its driver can read")
    limits = dict(_limits(fields))
    return OpticalModule(
        nic, kind, any(_is_copper(name, value) for name, value in fields), tuple(_lanes(fields)), _temperature(fields),
        _complete(limits, "sent"), _complete(limits, "received"), _complete(limits, "temperature"),
        not any("oma" in name and _RECEIVED.search(name) for name, _ in fields),
    )  # fmt: skip


def _fields(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The lines of a module as name, in small letters, and value."""
    for line in lines:
        if (found := _FIELD.fullmatch(line.rstrip())) and not line.startswith(EXIT_MARK):
            yield " ".join(found[1].lower().split()), found[2]


def _is_copper(name: str, value: str) -> bool:
    if name.startswith(("passive cu", "active cu")):
        return True
    if name.startswith("length (copper"):
        return value.strip() not in ("", "0m", "0.00m", "0 m")
    return name in ("connector", "transmitter technology", "transceiver type") and _COPPER.search(value) is not None


def _lanes(fields: Sequence[tuple[str, str]]) -> Iterator[OpticalLane]:
    sent: dict[int, float] = {}
    received: dict[int, float] = {}
    for name, value in fields:
        if "threshold" in name or "alarm" in name or "warning" in name:
            continue
        way = sent if _SENT.search(name) else received if _RECEIVED.search(name) else None
        power = _power(value)
        if way is not None and power is not None:
            found = _LANE.search(name)
            way.setdefault(int(found[1]) if found else 1, power)
    for number in sorted({*sent, *received})[:_MOST_LANES]:
        yield OpticalLane(number, sent.get(number), received.get(number))


def _power(value: str) -> float | None:
    """Milliwatts of `0.5623 mW / -2.50 dBm`, of `-2.5 dBm` alone, and 0 of `-inf dBm`."""
    if found := _MILLIWATTS.search(value):
        power = float(found[1])
    elif found := _DBM.search(value):
        power = 0.0 if "inf" in found[1].lower() else 10 ** (min(float(found[1]), 30) / 10)
    else:
        return None
    return round(power, 6) if 0 <= power <= _MOST_MW else None


def _temperature(fields: Sequence[tuple[str, str]]) -> float | None:
    return next((_degrees(value) for name, value in fields if name == "module temperature"), None)


def _degrees(value: str) -> float | None:
    found = _DEGREES.search(value)
    return float(found[1]) if found else None


_WHAT = {"laser output power": "sent", "laser tx power": "sent", "laser rx power": "received"}


def _limits(fields: Sequence[tuple[str, str]]) -> Iterator[tuple[tuple[str, str, str], float]]:
    for name, text in fields:
        if found := _LIMIT.fullmatch(name):
            what = _WHAT.get(found[1], "temperature")
            value = _degrees(text) if what == "temperature" else _power(text)
            if value is not None:
                yield (what, found[2], found[3]), value


def _complete(limits: Mapping[tuple[str, str, str], float], what: str) -> OpticalLimits | None:
    """The four limits of a value; None where one is missing, or where they leave no room, as where all are 0."""
    names = (("low", "alarm"), ("low", "warning"), ("high", "warning"), ("high", "alarm"))
    found = [limits.get((what, end, level)) for end, level in names]
    if any(value is None for value in found):
        return None
    low_alarm, low, high, high_alarm = (float(value or 0) for value in found)
    has_room = low_alarm < high_alarm and low_alarm <= low < high <= high_alarm
    return OpticalLimits(low_alarm, low, high, high_alarm) if has_room else None
