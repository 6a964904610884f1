"""Hold `racwire measure rate` against its cap and iperf3's single stream, and its losses against the switch's count."""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import threading
from collections.abc import Iterator
from statistics import median
from typing import Any

from bench.instruments import (
    FAR,
    NEAR,
    TARGET,
    NoInstrument,
    demand,
    far_ends,
    halves_differ,
    in_switch,
    near,
    on_node,
    running,
    set_apart,
)
from bench.instruments import measure as racwire
from bench.pace import Pace
from bench.practice import practice_cluster
from bench.rows import Row, not_measured
from checks.measure.load_limits import HARD

CAPPED_PERCENT, UNCAPPED_LEAST, SIGMAS = 1.0, 0.85, 3.0
_LONG = ("--whole", "15m")
_LOSS = 0.01
_RUNS_S, _STANDS_S = 0.4, 0.4
_ANY_PACKETS_PER_S = 1e7
"""No limit. That of a user's run, 20,000, holds a stream to 1.4 Gb/s at MTU 9000."""
_LOST = f'iifname "{NEAR}-eth1" ip protocol udp ip length > 8000 numgen random mod 100 < {_LOSS * 100:.0f} counter drop'
"""The switch loses datagrams of 8 KB from the near node only: the checks before a measurement see a healthy path."""


def measure(pace: Pace) -> Iterator[Row]:
    """Yield the rows of the cap, of iperf3, and of losses."""
    with practice_cluster(2, database=False, rate="1g") as lab:
        yield from _capped(lab, pace)
        yield from _lossy(lab, pace)
        yield _full_receiver(lab)
        yield _full_queue(lab)
    try:
        demand("iperf3")
        with practice_cluster(2, database=False) as lab:
            place = set_apart(lab)
            with running(lab, FAR, ("iperf3", "-s", "--forceflush", "-B", TARGET), "Server listening"):
                limits = {"most_bytes": 50 << 30, "packets_per_s": _ANY_PACKETS_PER_S}
                found = near(
                    lab, "turns", kind="rate", steps=[0.8], step_s=1.0, rounds=min(pace.turns, 6), far_end="perl",
                    limits=limits,
                )  # fmt: skip
        yield from uncapped(found["turns"], place)
    except NoInstrument as reason:
        yield not_measured("measure rate, uncapped, against iperf3", str(reason))


def _capped(lab: Any, pace: Pace) -> Iterator[Row]:
    _, found = racwire(lab, "rate", "--steps", "2,10", "--step", "2s", "--rounds", str(pace.turns), *_LONG)
    for protocol in ("tcp", "udp"):
        steps = [one for one in found["result"]["steps"] if one["protocol"] == protocol]
        shares = [one["received_bytes"] * 8 / one["seconds"] / one["cap_bps"] for one in steps]
        notes = (
            f"the median of {len(steps)} steps of 20 and 100 Mb/s, each way: {median(shares):.4f} of the cap, the "
            f"least {min(shares):.4f}, the most {max(shares):.4f}",
        )
        yield Row(
            f"measure rate, capped, {protocol.upper()}: off its cap", "%", abs(median(shares) - 1) * 100,
            CAPPED_PERCENT, notes=notes, doubt=_doubt(found, steps),
        )  # fmt: skip


def _lossy(lab: Any, pace: Pace) -> Iterator[Row]:
    demand("nft")
    in_switch(lab, "nft", "add table bridge bench")
    in_switch(lab, "nft", "add chain bridge bench entering { type filter hook prerouting priority -1; }")
    in_switch(lab, "nft", f"add rule bridge bench entering {_LOST}")
    try:
        _, found = racwire(lab, "rate", "--steps", "5,10", "--step", "2s", "--rounds", str(pace.turns), *_LONG)
        listed = json.loads(in_switch(lab, "nft", "-j", "list", "table", "bridge", "bench"))
    finally:
        in_switch(lab, "nft", "delete table bridge bench")
    dropped = next(
        part["counter"]["packets"]
        for entry in listed["nftables"]
        for part in entry.get("rule", {}).get("expr", ())
        if "counter" in part
    )
    steps = [one for one in found["result"]["steps"] if one["protocol"] == "udp" and not one["is_towards_here"]]
    sent, lost = sum(one["sent"] for one in steps), sum(one["lost"] for one in steps)
    away = abs(lost - sent * _LOSS) / math.sqrt(sent * _LOSS * (1 - _LOSS)) if sent else None
    note = f"{lost:,} of {sent:,} datagrams lost; the switch dropped {dropped:,}, and {sent * _LOSS:,.0f} are 1 %"
    yield Row("measure rate, with 1 % lost in the switch: off 1 %", "sigma", away, SIGMAS, notes=(note,))
    yield Row("measure rate, its losses against the switch's count", "datagrams", abs(lost - dropped), 0)


def _full_receiver(lab: Any) -> Row:
    """Let the far end stand still for a part of each second: its own socket then drops what arrives."""
    done = threading.Event()

    def hold() -> None:
        while not done.wait(_RUNS_S):
            for one in far_ends(lab):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(one, signal.SIGSTOP)
                    done.wait(_STANDS_S)
                    os.kill(one, signal.SIGCONT)

    holding = threading.Thread(target=hold)
    holding.start()
    try:
        # So fast that what may be without an answer is more than its socket holds.
        code, found = racwire(lab, "rate", "--share", "80", "--steps", "80", "--packets", "20000", "--step", "3s")
    finally:
        done.set()
        holding.join()
    return _own(found, code, "dropped", "a far end that stands still")


def _full_queue(lab: Any) -> Row:
    """Give the near node's NIC a queue with room for six datagrams, at a rate below that of the last step."""
    on_node(lab, NEAR, "sh", "-c", "tc qdisc replace dev eth1 root tbf rate 60mbit burst 20kb limit 60kb")
    code, found = racwire(lab, "rate", "--steps", "10", "--step", "2s", "--rounds", "2")
    return _own(found, code, "refused", "a full queue of the sender")


def _own(found: dict[str, Any], code: int, what: str, why: str) -> Row:
    steps = found["result"]["steps"]
    own, lost = sum(one[what] for one in steps), sum(one["lost"] for one in steps)
    title = f"measure rate, {why}: its drops counted as the network's"
    if not own:
        return not_measured(title, f"nothing was {what} by its own ends")
    ended = f"; it stopped: {found['stopped']}" if found["stopped"] else ""
    unknown = sum(one.get("unknown", 0) for one in steps)
    note = f"{own:,} datagrams were {what} by its own ends, {unknown:,} not known whose; exit code {code}{ended}"
    return Row(title, "datagrams", lost, 0, notes=(note,))


def uncapped(turns: list[dict[str, Any]], place: str) -> Iterator[Row]:
    """Yield a row for each direction from what both instruments found."""
    for back in (False, True):
        title = f"measure rate, uncapped TCP {'from' if back else 'to'} the peer, of iperf3's single stream"
        own = [one for one in turns if one["is_towards_here"] == back]
        if not own:
            yield not_measured(title, "it ended before the first turn")
            continue
        noise = halves_differ([one["iperf3_bps"] for one in own])
        ours, theirs, cap = (median(one[name] for one in own) / 1e9 for name in ("bps", "iperf3_bps", "cap_bps"))
        if cap < UNCAPPED_LEAST * theirs:
            yield not_measured(title, f"racwire's cap was {cap:.1f} Gb/s, and iperf3 carried {theirs:.1f}")
            continue
        yield Row(
            title, "x", median(one["bps"] / one["iperf3_bps"] for one in own), UNCAPPED_LEAST, is_least=True,
            notes=(
                f"{ours:.1f} Gb/s, iperf3 {theirs:.1f} Gb/s; {len(own)} turns{f'; {place}' if place else ''}",
                f"without the limit of {HARD.packets_per_s:,.0f} packets/s, which no user's stream exceeds",
            ),
            doubt=f"iperf3 itself differed by {noise:.0%}" if noise > 0.15 else "",
        )  # fmt: skip


def _doubt(found: dict[str, Any], steps: list[dict[str, Any]]) -> str:
    if found["stopped"]:
        return f"it ended early: {found['stopped']}"
    late = median(one["lateness_p99_us"] or 0.0 for one in steps) / 1000
    return f"racwire itself was {late:.1f} ms late (p99)" if late > 1 else ""
