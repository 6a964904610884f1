"""Size classes of frames in the counters of NIC drivers, by the names that each driver gives them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

Direction = Literal["rx", "tx"]

_FORMS = (
    # mlx5_core
    r"(?P<way>[rt]x)_(?:(?P<low>\d+)_to_)?(?P<high>\d+)_bytes_phy",
    # mlx4_en
    r"(?P<way>[rt]x)_(?:lt_)?(?P<high>\d+)_bytes_packets",
    r"(?P<way>[rt]x)_gt_(?P<below>\d+)_bytes_packets",
    # i40e, ice, and both from Intel's own packages
    r"(?:port\.)?(?P<way>[rt]x)_size_(?:(?P<high>\d+)|big)(?:\.nic)?",
    # bnxt_en; the counters of good frames with a VLAN tag repeat others
    r"(?P<way>[rt]x)_(?:(?P<low>\d+)b_)?(?P<high>\d+)b?_frames",
    # bnx2, bnx2x, qede
    r"(?P<way>[rt]x)_(?:(?P<low>\d+)_to_)?(?:(?P<high>\d+)|max)_byte_packets",
    # tg3
    r"(?P<way>[rt]x)_(?:(?P<low>\d+)_to_)?(?P<high>\d+)(?:_or_less)?_octet_packets",
    # cxgb4; enic, which names the upper end alone
    r"(?P<way>[rt]x)_frames_(?:(?P<low>\d+)_)?(?:to_)?(?:(?P<high>\d+)|max)",
    # cxgb3
    r"(?P<way>[RT]x)Frames(?:(?P<low>\d+)To)?(?:(?P<high>\d+)|Max)",
    # sfc, whose boundary is 1,518 bytes, and 1,522 with a VLAN tag
    r"(?:port_)?(?P<way>[rt]x)_(?:(?P<low>\d+)_to_)?(?P<high>\d{2,4}|15xx)",
    r"(?:port_)?(?P<way>[rt]x)_(?P<low>15xx)_to_jumbo",
    # hns3, hinic
    r"mac_(?P<way>[rt]x)_(?:(?P<low>\d+)_)?(?P<high>\d+)_oct_pkt_num",
    # ionic
    r"frames_(?P<way>[rt]x)_(?:(?P<low>\d+)b_)?(?P<high>\d+)b",
    # the kernel's standard groups, as `ethtool -S NIC --groups rmon` prints them
    r"(?P<way>[rt]x)-rmon-etherStatsPkts(?:(?P<low>\d+)to)?(?:(?P<high>\d+)|Max)Octets",
)
"""Whole names of counters. A form without the lower end of a class follows the class before."""
_FORM = re.compile("|".join(re.sub(r"\?P<(\w+)>", rf"?P<\1_{n}>", form) for n, form in enumerate(_FORMS)), re.ASCII)
STANDARD = "-rmon-"
"""Part of the names of the kernel's standard groups."""
_SMALLEST_END, _LARGEST_END = 60, 70_000
_VLAN_FRAME = 1522
"""Bytes of a full frame at MTU 1500 with a VLAN tag."""


@dataclass(frozen=True, order=True)
class SizeRange:
    """The sizes of a class of frames, in bytes with the frame check sequence (RFC 2819)."""

    low: int | None
    """None where the name has the upper end alone."""
    high: int | None
    """None for frames of any size from `low` on."""


@dataclass(frozen=True)
class SizeClass:
    """The frames of one class of sizes."""

    low: int
    high: int | None
    frames: int

    @property
    def label(self) -> str:
        """The range for a table: `65-127`, `to 64`, `from 1523`."""
        if self.high is None:
            return f"from {self.low}"
        return f"{self.low}-{self.high}" if self.low else f"to {self.high}"


@cache
def class_of(name: str) -> tuple[Direction, SizeRange] | None:
    """Return the direction and the sizes that a counter counts; None for any other counter."""
    if (found := _FORM.fullmatch(name.strip())) is None:
        return None
    parts = {key.rpartition("_")[0]: text for key, text in found.groupdict().items() if text is not None}
    way: Direction = "rx" if parts["way"].lower() == "rx" else "tx"
    if "below" in parts:
        return way, SizeRange(int(parts["below"]) + 1, None)
    if parts.get("low") == "15xx":
        return way, SizeRange(_VLAN_FRAME + 1, None)
    low = int(parts["low"]) if "low" in parts else None
    high = parts.get("high")
    end = None if high is None else _VLAN_FRAME if high == "15xx" else int(high)
    if end is not None and not (_SMALLEST_END <= end <= _LARGEST_END and (low or 0) <= end):
        return None
    return way, SizeRange(low, end)


def size_classes(counts: Mapping[str, int]) -> dict[Direction, tuple[SizeClass, ...]]:
    """Return the frames by size for each direction that the driver or the kernel counts, from small to large.

    The driver's own classes have precedence over those of the kernel. Where one class lies in another (qede counts
    frames of 1,519 to 1,522 bytes with a VLAN tag apart), the larger number counts for both.
    """
    own: dict[Direction, dict[SizeRange, int]] = defaultdict(dict)
    standard: dict[Direction, dict[SizeRange, int]] = defaultdict(dict)
    for name, count in counts.items():
        if found := class_of(name):
            into = standard if STANDARD in name else own
            into[found[0]][found[1]] = count
    ways: tuple[Direction, ...] = ("rx", "tx")
    chosen = {way: own.get(way) or standard.get(way) for way in ways}
    return {way: _in_order(ranges) for way, ranges in chosen.items() if ranges and len(ranges) > 1}


def _in_order(ranges: Mapping[SizeRange, int]) -> tuple[SizeClass, ...]:
    """The classes by their upper ends, each with a lower end."""
    classes: list[SizeClass] = []
    for size, frames in sorted(ranges.items(), key=lambda item: (item[0].high is None, item[0].high or 0)):
        before = classes[-1] if classes else None
        # The class without an upper end can name none at all.
        low = size.low if size.low is not None else (before.high or 0) + 1 if before else 0
        if before and before.high is not None and low <= before.high:
            classes[-1] = SizeClass(min(low, before.low), size.high, max(frames, before.frames))
        else:
            # The smallest class of most drivers is named after its upper end alone.
            classes.append(SizeClass(low if before else 0, size.high, frames))
    return tuple(classes)
