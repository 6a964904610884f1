"""What racwire asks the drivers of the private NICs by ethtool: the limits of each query, and their counters."""

from __future__ import annotations

import re
from collections.abc import Iterable

from checks.sources.entries import Argument, Program, Read, RunsOn

NICS = Argument("NIC", r"-|(?!\.\.?\Z)[A-Za-z0-9_][^\x00-\x20/\x7f\ud800-\udfff]{0,14}", is_many=True)
"""The private NICs of a node and the members of their bonds; `-` where they are not known."""
NO_NIC = "-"
MOST_NICS = 8
"""Most NICs of a node that ethtool is run for."""
NIC_LIMIT_S = 1
"""Seconds after which a query to a driver is ended."""
LEAST_APART_S = 30
"""Least seconds between two readings of a driver's counters: some drivers take locks or query their firmware."""
NIC_MARK = "nic "
NO_ETHTOOL = "no ethtool"
DRIVER_MARK = "DRIVER="
HASH_MARK = "udp4 hash"
"""Before the exit status of the query for the fields of UDP that are hashed."""

_LINES = (
    "err|drop|discard|miss|fifo|alloc|buf|oob|crc|fcs|ovrsz|over|long|jumbo|jabber|jbr|trunc|pause|pfc|ppp|xoff|fault|"
    "link|exceed|dma|memory|bad|illegal|timeout|collision|range|ecn_mark|prio_?[0-7]_packets|packets_pri[0-7]"
)
_SIZES = "[rt]x_((size|frames|gt|lt)_)?([0-9]|big|to_max)|frames_[rt]x_[0-9]|[RT]xFrames[0-9]|pktsNtoM|rmon-"
"""Counters of frames by size, by part of their names."""
STANDARD_MARK = "rmon "
_MOST_LINES = 8000
# `tr` writes the standard groups, which are JSON on many lines, as one line.
# A driver that does not answer one query in time would not answer the others.
_DRIVER_COUNTERS = f"""\
command -v ethtool >/dev/null || printf '{NO_ETHTOOL}\\n'
for nic in "$@"; do printf '{NIC_MARK}%s\\n' "$nic"; \
grep -h '^{DRIVER_MARK}' "/sys/class/net/$nic/device/uevent" 2>/dev/null; \
timeout {NIC_LIMIT_S} ethtool -S "$nic" 2>/dev/null; \
code=$?; if [ "$code" -eq 124 ]; then break; fi; \
printf '{STANDARD_MARK}'; timeout {NIC_LIMIT_S} ethtool --json -S "$nic" --groups rmon 2>/dev/null | tr -d ' \\n'; \
printf '\\n'; done | \
grep -i -m {_MOST_LINES} -E '^{NIC_MARK}|^{DRIVER_MARK}|{_LINES}|{_SIZES}'
true"""
DRIVER_COUNTERS = Program(
    name="driver counters",
    groups=("counters",),
    where=RunsOn.NODES,
    purpose="counters that the drivers of private NICs count in addition to the kernel: of errors, drops and pauses, "
    "of packets by priority, and of frames by size",
    text=_DRIVER_COUNTERS,
    reads=(
        Read(
            "driver counters",
            f"private NICs, {MOST_NICS} at most",
            "ethtool -S NIC; ethtool --json -S NIC --groups rmon",
        ),
    ),
    arguments=(NICS,),
    example=("eth1",),
    limit_s=20.0,
)
"""Runs at both ends of an interval of LEAST_APART_S or more."""

OPTICS_RIGHT = "root, or CAP_NET_ADMIN"
"""The right to read a transceiver."""
MODULE_LIMIT_S = 3
"""Seconds after which the query for a transceiver is ended: its pages come over a bus of 100 kHz."""
USER_MARK = "user "
"""Before the number of the user: only root and CAP_NET_ADMIN may ask."""
EXIT_MARK = "exit "
"""Before the exit status of a query."""
_MODULE_LINES = (
    "identifier +:|connector|transmitter tech|transceiver type|cu cmplnce|length .copper|optical diagnostics|"
    "power .*dbm|optical power|laser bias|signal (avg|oma|average)|module temperature"
)
# A module that does not answer in time blocks the bus for the next query as well.
_OPTICS = f"""\
command -v ethtool >/dev/null || printf '{NO_ETHTOOL}\\n'
printf '{USER_MARK}'; id -u
for nic in "$@"; do printf '{NIC_MARK}%s\\n' "$nic"; timeout {MODULE_LIMIT_S} ethtool -m "$nic" 2>/dev/null; code=$?; \
printf '{EXIT_MARK}%s\\n' "$code"; if [ "$code" -eq 124 ]; then break; fi; done | \
grep -i -m {_MOST_LINES} -E '^{NIC_MARK}|^{EXIT_MARK}|{_MODULE_LINES}'
true"""
OPTICS = Program(
    name="optics",
    groups=("investigation",),
    where=RunsOn.NODES,
    purpose="the light and the temperature of the transceivers of private NICs, and the limits that each has; only "
    "as a step of racwire investigate",
    text=_OPTICS,
    reads=(Read("optics", f"private NICs, {MOST_NICS} at most", "ethtool -m NIC", OPTICS_RIGHT),),
    arguments=(NICS,),
    example=("eth1",),
    limit_s=30.0,
)


def queried(nics: Iterable[str]) -> tuple[str, ...]:
    """Return the names that can be arguments of a program, as many as its time limit permits."""
    return tuple(nic for nic in nics if re.fullmatch(NICS.pattern, nic))[:MOST_NICS]
