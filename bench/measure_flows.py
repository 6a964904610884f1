"""Hold the completion times of `racwire measure mix` against tcpdump, and against a switch that prioritises."""

from __future__ import annotations

import contextlib
import signal
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from bench.flows_seen import flows_seen
from bench.instruments import NEAR, TARGET, NoInstrument, demand, halves_differ, running
from bench.instruments import measure as racwire
from bench.pace import Pace
from bench.practice import practice_cluster
from bench.rows import Row, not_measured
from checks.model.percentiles import percentile

FLOW_PERCENT, FLOW_MS = 2.0, 0.2
LOWER_PERCENT, LARGE_PERCENT, SAME_PERCENT = 30.0, 15.0, 15.0
SMALL, LARGE = ("message", "block", "small"), "large"
_PRIORITISED = "20"


def measure(pace: Pace) -> Iterator[Row]:
    """Yield the row of single flows, and those of a mix with and without priorities."""
    try:
        demand("tcpdump")
        with practice_cluster(2, database=False) as lab:
            yield from _single(lab, pace)
    except NoInstrument as reason:
        yield not_measured("measure mix, single flows, against tcpdump", str(reason))
    demand("nft")
    with practice_cluster(4, database=False, mtu=1500, rate="50m") as lab:
        yield from _prioritised(lab, pace)


def _single(lab: Any, pace: Pace) -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="racwire-bench-") as directory:
        file = Path(directory) / "flows.pcap"
        command = ("tcpdump", "-i", "eth1", "-s", "160", "-B", "16384", "-j", "host", "-w", str(file), "tcp")
        with running(lab, NEAR, command, "listening on") as seeing:
            _, found = racwire(lab, "mix", "--rounds", str(pace.finds), "--share", "40", "--whole", "15m")
            seeing.send_signal(signal.SIGINT)
            with contextlib.suppress(TimeoutError):
                seeing.wait(10)
        seen = defaultdict(list)
        for one in flows_seen(file.read_bytes(), TARGET):
            seen[one.size].append(one)
    over, lines, late = [], [], []
    for size, own in sorted(seen.items()):
        pairs = [
            (ours, theirs.took_s * 1000)
            for each in found["result"]["rounds"]
            if each["size"] == size
            for ours, theirs in zip(
                each["times_ms"],
                sorted(
                    (one for one in own if each["at"] - 0.01 <= one.began_s <= each["at"] + each["seconds"]),
                    key=lambda one: one.began_s,
                ),
                strict=False,
            )
        ]
        if not pairs:
            continue
        over += [max(0.0, abs(ours - theirs) - theirs * FLOW_PERCENT / 100) for ours, theirs in pairs]
        late += [ours - theirs for ours, theirs in pairs]
        lines.append(
            f"{size:10,} B: {len(pairs)} flows, median {median(a for a, _ in pairs):.3f} ms, tcpdump "
            f"{median(b for _, b in pairs):.3f} ms"
        )
    if not over:
        yield not_measured("measure mix, single flows, against tcpdump", "tcpdump saw no flow of racwire")
        return
    far = percentile(over, 0.95)
    most = f"; 95 % are below {far:.2f} ms" if far is not None else ""
    yield Row(
        "measure mix, one flow: off tcpdump, beyond 2 %", "ms", median(over), FLOW_MS,
        notes=(f"the median of {len(over)} flows{most}", *lines),
    )  # fmt: skip


def _prioritised(lab: Any, pace: Pace) -> Iterator[Row]:
    turns: dict[str, list[dict[str, float]]] = defaultdict(list)
    disturbed = 0
    for _ in range(max(2, pace.finds)):
        for state in ("off", _PRIORITISED):
            lab = lab.prioritise(state)
            _, found = racwire(
                lab, "mix", "--towards-here", "--share", "80", "--packets", "20000", "--rounds", "6", "--flows", "4",
                "--whole", "15m",
            )  # fmt: skip
            turns[state].append(_means(found["result"]["rounds"]))
            disturbed += bool(found["disturbed"])
    off, on = ({name: median(one[name] for one in turns[state]) for name in turns[state][0]} for state in turns)
    noise = halves_differ([one["all small"] for one in turns["off"]])
    lines = [f"{name}: mean {off[name]:.1f} ms without, {on[name]:.1f} ms with" for name in off]
    repeats = (
        f"{len(turns['off'])} turns of 6 rounds; 4 nodes, 4 flows of each class, 50 Mb/s, MTU 1500, the first "
        f"{_PRIORITISED} packets"
    )
    doubt = f"without priorities it differed by {noise:.0%} itself" if noise > 0.15 else ""
    yield Row(
        "measure mix, prioritised: small flows lower by", "%", (1 - on["all small"] / off["all small"]) * 100,
        LOWER_PERCENT, is_least=True, notes=(repeats, *lines), doubt=doubt,
    )  # fmt: skip
    yield Row(
        "measure mix, prioritised: large flows differ by", "%", abs(on[LARGE] / off[LARGE] - 1) * 100, LARGE_PERCENT
    )
    note = "the medians of every other turn without priorities"
    yield Row("measure mix, not prioritised: small flows differ by", "%", noise * 100, SAME_PERCENT, notes=(note,),
        doubt=f"racwire calls {disturbed} of its runs disturbed itself" if disturbed else "",
    )  # fmt: skip


def _means(rounds: list[dict[str, Any]]) -> dict[str, float]:
    """Return the mean completion times of the classes together, and of all small flows."""
    times: dict[str, list[float]] = defaultdict(list)
    for one in rounds:
        if one["company"] == "together":
            times[one["flow_class"]] += one["times_ms"]
            if one["flow_class"] in SMALL:
                times["all small"] += one["times_ms"]
    return {name: sum(own) / len(own) for name, own in times.items()}
