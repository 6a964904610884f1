"""How much of DB time a network could at most save: the honest no to a faster network, or a reason for one.

The database counts the waits for other instances ('cluster wait time'). A part of them passes in the other instance: it
builds or pins the block, and writes redo first. The rest is the upper limit of the time on the wire: it has the network
with the network code of both nodes, and what cannot be separated from it, such as an LMS process that waits for a CPU.
The lower limit is the time that the bits of the blocks need at the speed of the link. Within these limits, pings show
the likely time.

Statistics are differences of V$SYSSTAT by name, with times in hundredths of a second: each may be off by one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from checks.model.facts import Unknown
from checks.model.interconnect_load import WireTime
from checks.model.packet_sizes import wire_bytes_of
from checks.rules.cache_fusion import CLUSTER_WAIT, CR_RECEIVED, CURRENT_RECEIVED, DB_TIME, REMOTE_GRANTS

IDLE_SESSIONS = 0.02
"""DB time per second, over all instances, below which they are idle: a few sessions that monitor need as much. Ours."""
_LEAST_TICKS = 20
"""The DB time in units of its counter, for each instance, below which the rounding is too large."""
_LEAST_PERCENT = 0.01
_HALF_PERCENT = 50
"""The share of DB time on the wire without which a load is twice as fast: a limit of more says nothing. Ours."""
_HAIR = 1e-9
_TICK_S = 0.01
_MOST = 10**15
"""A recording can contain any figures; no real counter of an interval is larger."""
_SERVING = (
    "gc cr block build time",
    "gc cr block flush time",
    "gc current block pin time",
    "gc current block flush time",
)
"""What the sender of a block does before it sends it. Its send time is not in it: that is work for the network."""
_RECEIVE = ("gc cr block receive time", "gc current block receive time")

Statistics = Mapping[str, float]


@dataclass(frozen=True)
class WirePath:
    """What is known of the way between two nodes."""

    block_bytes: int
    mtu: int | None
    """The largest MTU of the private networks; None where one is not known."""
    speed_mbps: int | None = None
    """The speed of the fastest private link; None where one is not known."""
    small_rtt_ms: float | None = None
    """The round-trip time of a small ping."""
    block_rtt_ms: float | None = None
    """The round-trip time of a ping of a block's size."""
    pings: str = ""
    """Which pings: `DF pings of this run, median of 4 paths`."""
    version: int = 4
    """The IP version."""


def wire_time(
    instances: Mapping[str, Statistics], seconds: float, path: WirePath, block_waits_s: float | None = None
) -> WireTime | Unknown:
    """Return the share of DB time on the wire, with its limits. Unknown where it is not known, with the reason, also
    where the lower limit is above the upper one: they contradict each other.

    `instances`: the statistics of each instance by its name. `block_waits_s`: the waits that ended with a block, over
    all instances; None where they are not known, or where an instance is missing: then the time of the senders is not
    subtracted, which keeps the limit true.
    """
    if not instances or not seconds > 0:
        return Unknown("The counters of no instance could be read twice.")
    for name, counted in instances.items():
        if missing := [s for s in (DB_TIME, CLUSTER_WAIT) if s not in counted]:
            return Unknown(f"The statistic '{missing[0]}' of {name} was not read.")
    everyone = list(instances.values())
    off_s = _TICK_S * len(everyone)
    db_time_s, cluster_s = (_seconds(everyone, name) for name in (DB_TIME, CLUSTER_WAIT))
    if db_time_s < IDLE_SESSIONS * seconds:
        return Unknown(f"The instances were idle: {db_time_s:.3g} s of DB time in {seconds:.3g} s.")
    if db_time_s < _LEAST_TICKS * off_s:
        return Unknown(
            f"The DB time is too short for counters of 0.01 s: {db_time_s:.3g} s in {seconds:.3g} s, and at least "
            f"{_LEAST_TICKS * off_s:.3g} s are needed. A longer measurement has more."
        )
    inputs = {
        "DB time": f"{db_time_s:.2f} s",
        "cluster waits": f"{cluster_s:.2f} s",
        "instances": f"{len(everyone)}, each counter within 0.01 s",
    }
    formulas: dict[str, str] = {}
    high_s = cluster_s + off_s
    formulas["upper limit"] = "cluster waits / DB time"
    if block_waits_s is not None and (saved_s := _at_senders(everyone, block_waits_s, off_s, inputs)):
        high_s -= saved_s
        formulas["upper limit"] = (
            "(cluster waits - time of the senders x waits for blocks / receive time, at most 1) / DB time"
        )
    high_s = max(high_s, 0.0)
    blocks = _sum(everyone, (CR_RECEIVED, CURRENT_RECEIVED))
    inputs["blocks received"] = f"{blocks:,.0f}"
    low_s = _serial_s(blocks, path, inputs, formulas)
    likely_s = _pinged_s(blocks, _sum(everyone, (REMOTE_GRANTS,)), path, inputs, formulas)
    high = min(100 * high_s / (db_time_s - off_s), 100.0)
    low = 100 * low_s / (db_time_s + off_s)
    if low > high:
        return Unknown(
            f"The bits of the blocks need {_rounded(low, math.floor)} % of DB time or more at {path.speed_mbps or 0:,} "
            f"Mb/s, and the waits for them are at most {_rounded(high, math.ceil)} %. So either no session waited for "
            "a part of the blocks, or they came over more than one link, or over one of another speed."
        )
    return WireTime(
        db_time_s=db_time_s,
        cluster_s=cluster_s,
        low_percent=low,
        high_percent=high,
        likely_percent=None if likely_s is None else min(max(100 * likely_s / db_time_s, low), high),
        faster_percent=100 * high / (100 - high) if high < 100 else None,
        formulas=formulas,
        inputs=inputs,
    )


def no_network_text(wire: WireTime) -> str:
    """Return what a network could at most bring, or that the limits are too far apart to tell, and what narrows them.

    Limits are rounded away from the likely value.
    """
    share = f"Cluster waits are {_rounded(wire.cluster_percent)} % of DB time"
    high = _rounded(wire.high_percent, math.ceil)
    low = _rounded(wire.low_percent, math.floor)
    pinged = "" if wire.likely_percent is None else f" (by the pings {_rounded(wire.likely_percent)} %)"
    between = f"at most {high} %" if wire.low_percent < _LEAST_PERCENT else f"between {low} and {high} %"
    on_wire = f"{share}; {between} of DB time are on the wire{pinged}"
    if wire.faster_percent is not None and wire.high_percent < _HALF_PERCENT:
        limit = f"{_rounded(wire.faster_percent, math.ceil)} % faster"
        return f"{on_wire}: no network makes this load more than {limit}."
    if wire.low_percent >= _HALF_PERCENT:
        return f"{on_wire}: the bits of the blocks take most of that time, so a link with more speed helps."
    too_wide = f"{on_wire}. That is too wide to say what a faster network would bring. "
    if wire.cluster_percent < _HALF_PERCENT:
        return f"{too_wide}A longer measurement narrows it: the counters have ticks of 0.01 s."
    return (
        f"{too_wide}A longer measurement narrows it a little; the same load measured before and after a change shows "
        "the rest, since these waits are also work in the other instances."
    )


def _rounded(value: float, towards: Callable[[float], int] = round) -> str:
    """Return two significant digits; `towards` rounds a limit up or down."""
    if value < _LEAST_PERCENT:
        return "0.01" if towards is math.ceil else "0"
    unit = 10 ** (math.floor(math.log10(value)) - 1)
    # Without the small allowance the quotient of a rounded value may lie a hair above a whole number.
    digits = towards(value / unit - _HAIR) if towards is math.ceil else towards(value / unit + _HAIR)
    return f"{digits * unit:,.6g}"


def _at_senders(everyone: Sequence[Statistics], block_waits_s: float, off_s: float, inputs: dict[str, str]) -> float:
    """Return the seconds of the waits that certainly passed at the senders of the blocks."""
    serving_s = max(_seconds(everyone, *_SERVING) - len(_SERVING) * off_s, 0.0)
    receive_s = _seconds(everyone, *_RECEIVE) + len(_RECEIVE) * off_s
    if serving_s <= 0:
        return 0.0
    # Blocks of one request are on their way together: their receive times add up to more than the wait.
    inputs["time of the senders"] = f"{serving_s:.2f} s (build, pin, log flush)"
    inputs["waits for blocks"] = f"{block_waits_s:.2f} s of {receive_s:.2f} s receive time"
    return min(serving_s, receive_s) * min(1.0, block_waits_s / receive_s)


def _serial_s(blocks: float, path: WirePath, inputs: dict[str, str], formulas: dict[str, str]) -> float:
    """Return the seconds that the bits of the blocks need on one link; 0 where its speed or MTU is not known."""
    if not path.speed_mbps or not path.mtu:
        formulas["lower limit"] = "0: the speed or the MTU of the private links is not known"
        return 0.0
    bytes_ = wire_bytes_of(path.block_bytes, path.mtu, path.version)
    inputs["link"] = f"{path.speed_mbps:,} Mb/s, MTU {path.mtu}, {bytes_:,} B for a block"
    formulas["lower limit"] = "8 x blocks received x bytes for a block / link speed / DB time"
    return 8 * blocks * bytes_ / (1e6 * path.speed_mbps)


def _pinged_s(
    blocks: float, grants: float, path: WirePath, inputs: dict[str, str], formulas: dict[str, str]
) -> float | None:
    """Return the seconds that the exchanged blocks and grants need by the pings; None without pings."""
    if path.small_rtt_ms is None or path.block_rtt_ms is None:
        return None
    inputs["pings"] = f"{path.small_rtt_ms:.3g} ms small, {path.block_rtt_ms:.3g} ms of a block ({path.pings})"
    inputs["remote grants"] = f"{grants:,.0f}"
    formulas["likely"] = (
        "(blocks received x (half a small ping + half a ping of a block) + remote grants x a small ping) / DB time, "
        "within the limits"
    )
    return (blocks * (path.small_rtt_ms + path.block_rtt_ms) / 2 + grants * path.small_rtt_ms) / 1000


def _seconds(everyone: Sequence[Statistics], *names: str) -> float:
    return _TICK_S * _sum(everyone, names)


def _sum(everyone: Sequence[Statistics], names: Sequence[str]) -> float:
    return math.fsum(min(max(counted.get(name, 0), 0), _MOST) for counted in everyone for name in names)
