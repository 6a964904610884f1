"""In which class (802.1Q priority) the packets of a NIC travel, and which classes pause frames stop (802.1Qbb).

A switch serves each class by its own queue, and with PFC stops one class and lets the others go on. Cache Fusion has no
class of its own unless someone gave its packets one: the counters of the NIC show where they travel.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache

from checks.model.facts import DriverCounters

_USED_SHARE = 0.05
"""The part of a NIC's packets from which a class carries its traffic: LLDP and the like have classes of their own.
Ours."""


class _Of(Enum):
    PACKETS = "packets"
    PAUSES = "pause frames"
    UNDIVIDED = "pause frames without a class"
    MARKED = "packets marked as congested"


_NAMES: Mapping[str, Mapping[_Of, str]] = {
    "mlx5_core": {
        _Of.PACKETS: "[rt]x_prio([0-7])_packets",
        _Of.PAUSES: "[rt]x_prio([0-7])_pause",
        _Of.UNDIVIDED: "[rt]x_global_pause",
        _Of.MARKED: "rx_ecn_mark",
    },
    "mlx4_core": {
        _Of.PACKETS: "[rt]x_prio_([0-7])_packets",
        _Of.PAUSES: "[rt]x_pause_prio_([0-7])",
        _Of.UNDIVIDED: "[rt]x_pause",
    },
    "bnxt_en": {
        _Of.PACKETS: "[rt]x_packets_pri([0-7])",
        _Of.PAUSES: "[rt]x_pfc_ena_frames_pri([0-7])",
        _Of.UNDIVIDED: "[rt]x_pause_frames",
    },
    "i40e": {
        _Of.PAUSES: r"port\.[rt]x_priority_([0-7])_xoff(?:_[rt]x)?",
        _Of.UNDIVIDED: r"port\.link_xoff_[rt]x",
    },
    "ice": {_Of.PAUSES: r"[rt]x_priority_([0-7])_xoff\.nic", _Of.UNDIVIDED: r"link_xoff_[rt]x\.nic"},
    "ixgbe": {_Of.PAUSES: "[rt]x_pb_([0-7])_pxoff", _Of.UNDIVIDED: "[rt]x_flow_control_xoff"},
    "cxgb4": {_Of.PAUSES: "[rt]x_ppp([0-7])_frames", _Of.UNDIVIDED: "[rt]x_pause_frames"},
    "mana": {_Of.PAUSES: "hc_tc([0-7])_[rt]x_pause_phy"},
}
"""Names of counters by class, from the drivers' sources in Linux. bnx2x, qede, be2net and tg3 count pause frames of all
classes together, and none of the Intel drivers counts packets by class."""


@dataclass(frozen=True, slots=True)
class TrafficClasses:
    """The classes of one NIC in the interval."""

    packets: Mapping[int, int]
    """Packets received and sent by class; empty where the driver does not count them."""
    pauses: Mapping[int, int]
    """Pause frames received and sent by class."""
    is_divided: bool
    """Whether no pause frame stopped all classes."""
    marked: int
    """Packets received that a switch on the way marked as congested (ECN)."""

    @property
    def used(self) -> tuple[int, ...]:
        """The classes in which its packets travel; none where that is not known."""
        least = _USED_SHARE * sum(self.packets.values())
        return tuple(sorted(one for one, number in self.packets.items() if number and number >= least))

    @property
    def paused(self) -> tuple[int, ...]:
        """The classes that pause frames stop."""
        return tuple(sorted(self.pauses))

    @property
    def is_elsewhere(self) -> bool:
        """Whether pause frames stop classes in which none of its packets travel, and no other."""
        return bool(self.is_divided and self.pauses and self.used) and not {*self.used} & {*self.pauses}

    @property
    def is_in_use(self) -> bool:
        """Whether pause frames stop a class in which its packets travel."""
        return self.is_divided and bool({*self.used} & {*self.pauses})


def classes_of(counters: DriverCounters) -> TrafficClasses:
    """Return the classes of a NIC; without any where its driver does not count by class."""
    packets, pauses = (_by_class(counters, of) for of in (_Of.PACKETS, _Of.PAUSES))
    return TrafficClasses(packets, pauses, not _sum(counters, _Of.UNDIVIDED), _sum(counters, _Of.MARKED))


def _by_class(counters: DriverCounters, of: _Of) -> dict[int, int]:
    found: Counter[int] = Counter()
    if pattern := _pattern(counters.driver, of):
        for name, number in counters.counts.items():
            if number > 0 and (one := pattern.fullmatch(name)):
                found[int(one[1])] += number
    return dict(found)


def _sum(counters: DriverCounters, of: _Of) -> int:
    pattern = _pattern(counters.driver, of)
    return sum(n for name, n in counters.counts.items() if n > 0 and pattern.fullmatch(name)) if pattern else 0


@cache
def _pattern(driver: str, of: _Of) -> re.Pattern[str] | None:
    name = _NAMES.get("mlx4_core" if driver == "mlx4_en" else driver, {}).get(of)
    return re.compile(name) if name else None
