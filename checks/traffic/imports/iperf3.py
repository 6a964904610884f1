"""Reads iperf3's JSON: one document (-J), or one event a line (--json-stream).

Two limits of iperf3 matter here: TCP with segmentation offload does not see the MTU of a path, and iperf3 can report a
UDP loss above 100 %.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from checks.traffic.compare.run import Better, ComparedRun, ImportProblem, Measured
from checks.traffic.imports.result_text import decoded, moment, number, plain, table, tables, word

GROUP = "iperf3"
CONTROL = (
    "TCP with segmentation offload does not see the MTU: unless offload is off, a difference here comes from the "
    "machines."
)
_SIGN = re.compile(r'"(?:start|intervals|end|event|error)"\s*:')
_REVERSE = {"": "", "_bidir_reverse": " (reverse)"}


def looks_like_iperf3(text: str) -> bool:
    """Return whether a JSON text starts like those of iperf3."""
    return _SIGN.search(text[:2000]) is not None


def parse_iperf3(text: str, name: str) -> ComparedRun:
    """Return the run of a result. Raises ImportProblem where iperf3 did not finish or did not run a test."""
    whole = _document(text, name)
    if error := word(whole.get("error")):
        raise ImportProblem(f"{name}: iperf3 did not finish: {error.rstrip('.')}.")
    start, end = table(whole.get("start")), table(whole.get("end"))
    test = table(start.get("test_start"))
    protocol = word(test.get("protocol")).upper() or ("UDP" if "sum" in end else "TCP")
    flows = [flow for suffix in _REVERSE if (flow := _flow(whole, protocol, suffix))]
    measured = [m for flow in flows for m in _of_flow(flow)]
    measured += _cpu(flows, end)
    if not measured:
        raise ImportProblem(f"{name} is a result of iperf3 without any interval: the test did not run.")
    seconds = number(table(end.get("sum_sent")).get("seconds")) or number(table(end.get("sum")).get("seconds"))
    return ComparedRun(
        kind="iperf3",
        name=name,
        begun_at=moment(number(table(start.get("timestamp")).get("timesecs"))),
        seconds=seconds or number(test.get("duration")) or None,
        measured=tuple(measured),
        environment=_environment(start, test, protocol),
        warnings=tuple(dict.fromkeys(w for flow in flows for w in flow.warnings())),
    )


def _document(text: str, name: str) -> dict[str, object]:
    """The document; the events of a stream are joined to one document."""
    first = text.lstrip().partition("\n")[0]
    if '"event"' not in first:
        return table(decoded(text, name))
    whole: dict[str, object] = {}
    intervals: list[object] = []
    for line in text.splitlines():
        if not line.strip():
            continue
        event = table(decoded(line, name))
        if event.get("event") == "interval":
            intervals.append(event.get("data"))
        else:
            whole[word(event.get("event"))] = event.get("data")
    return {**whole, "intervals": intervals}


@dataclass(frozen=True, slots=True)
class _Flow:
    """The traffic in one direction: the counts of its sender and, where reported, of its receiver."""

    protocol: str
    label: str
    here_sends: bool
    sent: list[dict[str, object]]
    received: list[dict[str, object]]
    sent_in_all: dict[str, object]
    received_in_all: dict[str, object]

    def warnings(self) -> Iterator[str]:
        shares = [number(i.get("lost_percent")) for i in (*self.received, self.received_in_all)]
        odd = [share for share in shares if share is not None and not 0 <= share <= 100]
        if odd:
            yield (
                f"iperf3 reports a loss of {max(odd, key=abs):,.0f} %, a known error of its arithmetic: racwire limits "
                "the shares to 0 to 100 %."
            )


def _flow(whole: dict[str, object], protocol: str, suffix: str) -> _Flow | None:
    """The flow of this name; None where there was no traffic in that direction."""
    end = table(whole.get("end"))
    test = table(table(whole.get("start")).get("test_start"))
    here = _intervals(whole.get("intervals"), suffix)
    there = _intervals(table(whole.get("server_output_json")).get("intervals"), suffix)
    if not here and not any(f"{kind}{suffix}" in end for kind in ("sum", "sum_sent", "sum_received")):
        return None
    here_sends = not number(test.get("reverse"))
    if here and isinstance(here[0].get("sender"), bool):
        here_sends = bool(here[0]["sender"])
    in_all = table(end.get(f"sum{suffix}"))
    received_in_all = table(end.get(f"sum_received{suffix}"))
    return _Flow(
        protocol=protocol,
        label=f"{protocol}{_REVERSE[suffix]}",
        here_sends=here_sends,
        sent=here if here_sends else there,
        received=there if here_sends else here,
        sent_in_all=table(end.get(f"sum_sent{suffix}")),
        # Before 3.8 a UDP test reported only one sum: sent by the sender, lost as the receiver reported.
        received_in_all=received_in_all or ({} if protocol == "TCP" else {**in_all, "bits_per_second": None}),
    )


def _intervals(value: object, suffix: str) -> list[dict[str, object]]:
    """The sums of all valid intervals, without those omitted at the start and a short one at the end."""
    sums = [table(interval.get(f"sum{suffix}")) for interval in tables(value)]
    counted = [s for s in sums if s and s.get("omitted") is not True and (number(s.get("seconds")) or 0) > 0]
    longest = max((number(s.get("seconds")) or 0 for s in counted), default=0)
    return [s for s in counted if (number(s.get("seconds")) or 0) >= longest / 2]


def _of_flow(flow: _Flow) -> Iterator[Measured]:
    tcp = flow.protocol == "TCP"
    note = CONTROL if tcp else ""
    # A UDP sender sends at the rate that the options set.
    sent = _megabits(flow.sent) or _megabits([flow.sent_in_all])
    if sent:
        better = Better.HIGHER if tcp else Better.NEITHER
        yield Measured(f"{flow.label} sent", "Mb/s", sent, better, is_control=tcp, group=GROUP, note=note)
    received = _megabits(flow.received) or _megabits([flow.received_in_all])
    if received:
        yield Measured(
            f"{flow.label} received", "Mb/s", received, Better.HIGHER, is_control=tcp, group=GROUP, note=note
        )
    resent = [
        count / seconds
        for interval in flow.sent
        if (count := number(interval.get("retransmits"))) is not None and (seconds := number(interval.get("seconds")))
    ]
    if resent:
        yield Measured(f"{flow.label} retransmits", "/s", tuple(resent), Better.LOWER, group=GROUP)
    if not tcp:
        yield from _datagrams(flow)


def _datagrams(flow: _Flow) -> Iterator[Measured]:
    """The metrics that only the receiver of UDP can report."""
    reported = [i for i in flow.received if number(i.get("packets"))] or [flow.received_in_all]
    lost = [share for i in reported if (share := _lost_percent(i)) is not None]
    if lost:
        yield Measured(f"{flow.label} datagrams lost", "%", tuple(lost), Better.LOWER, group=GROUP)
    jitter = [ms for i in reported if (ms := number(i.get("jitter_ms"))) is not None and ms >= 0]
    if jitter:
        yield Measured(f"{flow.label} jitter", "ms", tuple(jitter), Better.LOWER, group=GROUP)


def _lost_percent(counts: dict[str, object]) -> float | None:
    """The share of lost datagrams. iperf3 counts late datagrams as lost and subtracts them later, so its own share can
    be below 0 or above 100."""
    lost, packets = number(counts.get("lost_packets")), number(counts.get("packets"))
    if lost is None or packets is None or packets <= 0:
        return None
    return min(100.0, max(0.0, 100 * lost / packets))


def _megabits(counts: list[dict[str, object]]) -> tuple[float, ...]:
    rates = (number(c.get("bits_per_second")) for c in counts)
    return tuple(rate / 1e6 for rate in rates if rate is not None and rate >= 0)


def _cpu(flows: list[_Flow], end: dict[str, object]) -> list[Measured]:
    """The CPU time for each gigabit at each end, if there was only one flow."""
    used = table(end.get("cpu_utilization_percent"))
    if len(flows) != 1:
        return []
    flow = flows[0]
    moved = flow.received_in_all if number(flow.received_in_all.get("bytes")) else flow.sent_in_all
    size, seconds = number(moved.get("bytes")), number(moved.get("seconds"))
    found = []
    keys = ("host_total", "remote_total") if flow.here_sends else ("remote_total", "host_total")
    for end_of_it, key in zip(("sender", "receiver"), keys, strict=True):
        share = number(used.get(key))
        if share is not None and share >= 0 and size and seconds and size > 0 and seconds > 0:
            each = share / 100 * seconds / (8 * size / 1e9)
            name = f"{flow.label} CPU of the {end_of_it} for each gigabit"
            note = "Of the iperf3 process alone: soft interrupts outside it are not counted."
            found.append(Measured(name, "s", (each,), Better.LOWER, group=GROUP, note=note))
    return found


def _environment(start: dict[str, object], test: dict[str, object], protocol: str) -> dict[str, str]:
    found = {"protocol": protocol, "version": word(start.get("version"))}
    for what, key, unit in (
        ("streams", "num_streams", ""),
        ("block size", "blksize", " bytes"),
        ("duration", "duration", " s"),
        ("omitted at the beginning", "omit", " s"),
        ("target rate", "target_bitrate", " b/s"),
        ("type of service", "tos", ""),
    ):
        value = number(test.get(key))
        if value:
            found[what] = f"{plain(value)}{unit}"
    found["direction"] = (
        "both" if number(test.get("bidir")) else "reverse" if number(test.get("reverse")) else "forward"
    )
    server = table(start.get("connecting_to"))
    found["server"] = word(server.get("host"))
    buffer = number(start.get("sock_bufsize"))
    if buffer:
        found["socket buffer"] = f"{plain(buffer)} bytes"
    return {what: value for what, value in found.items() if value}
