"""The limits of what a measurement may send: defaults, and the hard limits that no option exceeds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from checks.measure.measure_error import MeasureError
from checks.model.fragment_memory import FRAGMENT_SHARE
from checks.model.packet_sizes import fragments_of
from checks.model.wording import lasting


@dataclass(frozen=True, slots=True)
class LoadLimits:
    """The limits of one run."""

    packets_per_s: float = 2_000
    """IP packets a second that this node sends."""
    link_share: float = 0.10
    """The share of the slowest link of a path, 0 to 1."""
    most_bps: float = 1e9
    """Bits a second on a path, where the share of the link is more."""
    in_flight: int = 1
    """Unanswered messages on a path."""
    step_s: float = 3
    whole_s: float = 120
    most_bytes: int = 2 << 30
    cpu_share: float = 0.5
    """CPU time of racwire's own processes on a node, as a share of one CPU."""
    flows_per_s: float | None = None
    """Flows a second that are sent next to the load of a cluster in use; None where it must not be in use."""

    def bits_per_s(self, speed_mbps: int | None) -> float:
        """Return the bits a second that may go on a path of this speed; 1 Gb/s where it is not known."""
        return min(self.most_bps, (speed_mbps or 1000) * 1e6 * self.link_share)


HARD = LoadLimits(
    packets_per_s=20_000,
    link_share=0.80,
    most_bps=1e11,
    in_flight=8,
    step_s=30,
    whole_s=900,
    most_bytes=50 << 30,
    cpu_share=1.0,
)
"""No option exceeds these, but for the share of `mix`. More than 10 % of a link needs the stack down on all nodes, or
the practice cluster."""
MIX_SHARE = 0.95
"""The share of the link that `measure mix` may choose: its flows are TCP, which gives way where a link is full."""
FRAGMENT_STOP_SHARE = 0.25
"""The share in use, by all senders, above which racwire sends no fragments. Ours."""
LOOK_S = 0.1
"""Seconds between two looks of a receiver at its memory for reassembly, while fragments are sent."""
FEW_LOST = 3
"""Messages that may be lost by chance. More of them end a measurement where they are in fragments: each holds memory
for `ipfrag_time`. The same number of messages in a row ends any. Ours."""
STEP_UP_LOSS = 0.001
"""The share of datagrams that a step may lose, if they are more than a few, before the next one is sent: racwire's own
load is the reason, or comes on top. Ours."""
_LEAST_LOST, _MOST_LOSS = 10, 0.03
"""More lost datagrams than this number and this share, of a step or a second, end it at once, also in whole packets:
a random loss of 1 % can still be measured. Ours."""
BESIDE_FLOWS_PER_S = 50
"""The most flows that `measure mix --beside` sends in a second."""
PUBLIC_BPS = 100e6
"""The most that `measure rate --public` sends on a public network, in bits a second."""


class FragmentRoom(NamedTuple):
    """What incomplete datagrams may hold at a receiver."""

    most_bytes: int
    """From all senders of racwire together."""
    seconds: float
    """How long the kernel keeps an incomplete datagram."""

    @property
    def stop_bytes(self) -> int:
        """The memory in use, by all senders, above which racwire sends no fragments."""
        return int(self.most_bytes / FRAGMENT_SHARE * FRAGMENT_STOP_SHARE)


def incomplete_bytes(size: int, mtu: int) -> int:
    """Return the memory that a datagram of so many bytes holds at its receiver while a fragment is missing.

    0 for a datagram in one packet. The kernel counts the buffer of each fragment, which is a power of two (truesize):
    2 KB for 1,500 bytes, so 12 KB for 8 KB.
    """
    fragments = fragments_of(size, mtu)
    return fragments * (1 << (mtu + _OVERHEAD - 1).bit_length()) if fragments > 1 else 0


def loses_too_much(lost: int, sent: int) -> bool:
    """Return whether a step must end at once."""
    return lost > _LEAST_LOST and lost > _MOST_LOSS * sent


_OVERHEAD = 64
"""Bytes of headers in the buffer of a packet."""


def limits_of(
    *,
    packets_per_s: float | None = None,
    link_share: float | None = None,
    in_flight: int | None = None,
    whole_s: float | None = None,
    most_bytes: int | None = None,
    most_share: float = HARD.link_share,
) -> LoadLimits:
    """Return the limits with these values in place of defaults. Raises MeasureError above a hard limit, or for 0.

    `most_share`: the hard limit of the share of the link.
    """
    values = {
        "packets_per_s": packets_per_s,
        "link_share": link_share,
        "in_flight": in_flight,
        "whole_s": whole_s,
        "most_bytes": most_bytes,
    }
    chosen = {name: value for name, value in values.items() if value is not None}
    for name, value in chosen.items():
        hard = most_share if name == "link_share" else getattr(HARD, name)
        if not 0 < value <= hard:
            raise MeasureError(f"{_NAMES[name]} must be more than 0 and at most {_text(name, hard)}.")
    limits = replace(LoadLimits(), **chosen)  # type: ignore[arg-type]
    # A share that was typed replaces the usual limit of 1 Gb/s, which keeps a default of 10 % harmless on fast links.
    if link_share is None:
        return limits
    cpu_share = HARD.cpu_share if link_share > LoadLimits().link_share else limits.cpu_share
    return replace(limits, most_bps=HARD.most_bps, cpu_share=cpu_share)


def beside(limits: LoadLimits) -> LoadLimits:
    """Return the limits for flows next to the load of a cluster in use: at most 2 % of a link, and 100 Mb/s.

    50 flows/s of up to 64 KB need less.
    """
    return replace(
        limits,
        flows_per_s=BESIDE_FLOWS_PER_S,
        link_share=min(limits.link_share, 0.02),
        most_bps=min(limits.most_bps, 1e8),
        packets_per_s=min(limits.packets_per_s, LoadLimits().packets_per_s),
    )


def of_storage(limits: LoadLimits) -> LoadLimits:
    """Return the limits for a storage network: a file of 256 MB, written and read five times, is 2.7 GB."""
    return replace(limits, most_bytes=4 << 30)


_NAMES = {
    "packets_per_s": "The packets a second",
    "link_share": "The share of the link",
    "in_flight": "The unanswered messages on a path",
    "whole_s": "The length of the whole measurement",
    "most_bytes": "The bytes of a measurement",
}


def _text(name: str, value: float) -> str:
    if name == "link_share":
        return f"{value:.0%}"
    if name == "whole_s":
        return lasting(value)
    return f"{value / 1e9:.0f} GB" if name == "most_bytes" else f"{value:,.0f}"
