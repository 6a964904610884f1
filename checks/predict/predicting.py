"""Predicts what another MTU or block size changes on a cluster, from a recording of its load. No I/O of its own."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from statistics import fmean

from checks.model.facts import Unknown
from checks.model.interconnect_load import WireTime
from checks.model.packet_sizes import fragments_of, wire_bytes_of
from checks.model.wording import counted
from checks.predict.conclusions import BURST, LIMITS, SOFTIRQ, conclusions
from checks.predict.fragment_cost import FragmentCost, fitting, formula_of, inputs_of, percent_after
from checks.predict.measured_load import MeasuredLoad, NodeLoad
from checks.predict.packet_rates import Flow, Packets, packets_at, wire_bits
from checks.predict.prediction import Estimate, NotPredicted, Prediction
from checks.predict.prioritised_flows import prioritisation_remarks
from checks.rules.wire_time import WirePath, wire_time
from checks.traffic.compare.statistics import median_interval

_USUAL_MESSAGE_BYTES = 16_384
"""The default of parallel_execution_message_size (Database Reference)."""
_IDLE = 10.0
"""Large datagrams per second below which a node is idle: its few packets say nothing about a load."""
_LINKS_FULL, _CPU_FULL = LIMITS
_SURE_OF_NO = 3.0
"""The rule of three: where none of n was lost, fewer than 3 of n are lost with 95 % confidence."""


def predict(
    load: MeasuredLoad, mtu: int, *, block_bytes: int | None = None, multiblock: int | None = None
) -> Prediction:
    """Return the prediction for the MTU `mtu` on every private interface.

    `block_bytes` and `multiblock` replace the block size and the multiblock read count of the database. Another block
    size than that of the measured load is used for the figures of one block only: it would change the load itself.
    """
    block = block_bytes or load.block_bytes
    estimates: list[Estimate] = list(_of_a_block(load, mtu, block, multiblock or load.multiblock))
    missing = [NotPredicted(name="packets", subject=node, reason=why) for node, why in load.left_out.items()]
    for node in load.nodes:
        found = tuple(_NodePrediction(load, node, mtu).figures())
        estimates += [one for one in found if isinstance(one, Estimate)]
        missing += [one for one in found if isinstance(one, NotPredicted)]
    remarks = (*conclusions(estimates, mtu), *_bursts(load, block, multiblock or load.multiblock))
    return Prediction(
        cluster=load.cluster,
        measured_at=load.measured_at,
        seconds=load.seconds,
        stretches=load.stretch_count,
        mtu_before={node.node: node.mtu for node in load.nodes},
        mtu_after=mtu,
        block_bytes=block,
        is_block_assumed=load.is_block_assumed and block_bytes is None,
        wire=_most_to_gain(load),
        estimates=tuple(estimates),
        not_predicted=tuple(missing),
        remarks=(*remarks, *prioritisation_remarks(load, mtu)),
    )


def _most_to_gain(load: MeasuredLoad) -> WireTime | Unknown:
    """Return what a network could at most bring for the measured load."""
    if not load.statistics:
        return Unknown("The DB time of no instance was recorded: no database was connected (--connect).")
    speeds = [link.speed_mbps for node in load.nodes for link in node.links]
    path = WirePath(
        load.block_bytes,
        max((node.mtu for node in load.nodes), default=None),
        max((speed for speed in speeds if speed), default=None) if all(speeds) else None,
        load.small_rtt_ms,
        load.block_rtt_ms,
        "the instances' own pings of 500 B and 8 KB",
        load.version,
    )
    # A recording has no waits by event: the time of the senders stays in the limit.
    return wire_time(load.statistics, load.seconds, path)


# --- one block --------------------------------------------------------------------------------------------------------


def _of_a_block(load: MeasuredLoad, mtu: int, block: int, multiblock: int | None) -> Iterator[Estimate]:
    """Yield the figures that are arithmetic: the same for every load."""
    before = min((node.mtu for node in load.nodes), default=mtu)
    message = load.message_bytes or _USUAL_MESSAGE_BYTES
    of_block = {"block": f"{block:,} B"}
    of_message = {
        "parallel_execution_message_size": f"{message:,} B{'' if load.message_bytes else ', the default of Oracle'}"
    }
    carried = "bytes that a fragment carries, rounded up"
    for name, unit, figure_of, size, formula, inputs in (
        ("packets for a block", "", fragments_of, block, f"block / {carried}", of_block),
        (
            "bytes on the wire for a block",
            "B",
            wire_bytes_of,
            block,
            "block + headers of the datagram + 58 B for each packet",
            of_block,
        ),
        ("packets for a message of parallel execution", "", fragments_of, message, f"message / {carried}", of_message),
    ):
        figures = figure_of(size, before, load.version), figure_of(size, mtu, load.version)
        yield _exact(name, unit, figures, formula, inputs)
    if multiblock:
        for node in load.nodes:
            yield from _burst(load, node, mtu, block, multiblock)


def _burst(load: MeasuredLoad, node: NodeLoad, mtu: int, block: int, multiblock: int) -> Iterator[Estimate]:
    """Yield the burst of a multiblock read: each block is a datagram of its own."""
    inputs = {"block": f"{block:,} B", "db_file_multiblock_read_count": str(multiblock)}
    buffer = load.receive_buffer_bytes.get(node.node)
    if buffer is not None:
        inputs["net.core.rmem_max"] = f"{buffer:,} B; the burst has {multiblock * block:,} B of data"
    frames = [multiblock * fragments_of(block, size, load.version) for size in (node.mtu, mtu)]
    yield _exact(BURST, "", (frames[0], frames[1]), "blocks x packets for a block", inputs, node.node)
    if speed := min((link.speed_mbps for link in node.links if link.speed_mbps), default=0):
        times = [8 * multiblock * wire_bytes_of(block, size, load.version) / speed for size in (node.mtu, mtu)]
        yield _exact(
            "time of a multiblock read on the wire",
            "us",
            (times[0], times[1]),
            "8 x blocks x bytes on the wire for a block / link speed",
            {**inputs, "link speed": f"{speed:,} Mb/s"},
            node.node,
        )


def _bursts(load: MeasuredLoad, block: int, multiblock: int | None) -> Iterator[str]:
    """Yield how the burst of a multiblock read compares with the receive buffer of a socket."""
    if not multiblock or not load.receive_buffer_bytes:
        return
    smallest = min(load.receive_buffer_bytes.values())
    burst = f"A multiblock read of {counted(multiblock, 'block')} brings {multiblock * block:,} bytes in one burst"
    if multiblock * block > smallest:
        yield (
            f"{burst}, more than net.core.rmem_max ({smallest:,} bytes): a socket whose process is late loses blocks "
            "at any MTU. More: racwire change new receive-buffers"
        )
    else:
        yield (
            f"{burst}. net.core.rmem_max is {smallest:,} bytes: room for the data of "
            f"{counted(smallest // (multiblock * block), 'such burst')} in one socket at any MTU, and for fewer as "
            "the kernel counts its own headers."
        )


def _exact(
    name: str, unit: str, figures: tuple[float, float], formula: str, inputs: dict[str, str], subject: str = ""
) -> Estimate:
    """Return an estimate that is arithmetic alone: now, and after."""
    now, after = figures
    return Estimate(
        name=name,
        subject=subject,
        unit=unit,
        now=now,
        after=after,
        low=after,
        high=after,
        formula=formula,
        inputs=inputs,
    )


# --- a node -----------------------------------------------------------------------------------------------------------


class _NodePrediction:
    """The figures of one node. The directions of its traffic are `in` and `out`."""

    def __init__(self, load: MeasuredLoad, node: NodeLoad, mtu: int) -> None:
        self._load, self._node, self._mtu = load, node, mtu
        self._parts = {
            "in": [stretch.inbound for stretch in node.stretches],
            "out": [stretch.outbound for stretch in node.stretches],
        }
        self._flows = {direction: _whole(parts) for direction, parts in self._parts.items()}
        self._after = {direction: self._at_new_mtu(flow) for direction, flow in self._flows.items()}
        self._packets_now = sum(flow.packets for flow in self._flows.values())
        self._packets_after = sum(after.likely for after in self._after.values())
        self._cost = load.fragment_costs.get(node.node)

    def figures(self) -> Iterator[Estimate | NotPredicted]:
        """Yield each figure, or why it is not predicted."""
        if self._load.version == 6:
            yield self._not_predicted("packets", "The private networks use IPv6, whose fragments are not recorded.")
            return
        if idle := self._why_idle():
            yield self._not_predicted("packets", idle)
            return
        wire = {direction: self._wire(direction) for direction in self._flows}
        for direction, on_the_wire in wire.items():
            yield self._packets(direction)
            yield on_the_wire
        softirq = self._softirq()
        yield softirq
        yield self._lost()
        yield self._times_until_links_are_full(wire.values())
        yield self._times_until_a_cpu_is_full(softirq)
        yield self._not_predicted(
            "times the load until the NICs carry no more packets",
            "The packets per second that a NIC and a switch can carry are not known to racwire.",
        )

    def _not_predicted(self, name: str, reason: str) -> NotPredicted:
        return NotPredicted(name=name, subject=self._node.node, reason=reason)

    def _at_new_mtu(self, flow: Flow) -> Packets:
        return packets_at(flow, self._node.mtu, self._mtu, self._load.block_bytes, self._load.version)

    def _why_idle(self) -> str:
        """Return the reason why a load says nothing: no blocks travel."""
        flows = self._flows.values()
        large = sum(flow.datagrams + (flow.blocks or 0.0) for flow in flows)
        needs_bytes = not large and any(flow.packets and flow.bytes_ / flow.packets > 1_000 for flow in flows)
        if large >= _IDLE or needs_bytes:
            return ""
        return (
            f"{self._node.node} exchanged {large:.1f} large datagrams per second: it is idle, and the packets of "
            "heartbeats do not change. Measure during a usual load."
        )

    def _packets(self, direction: str) -> Estimate:
        flow, after = self._flows[direction], self._after[direction]
        low, high = _interval([self._at_new_mtu(part) for part in self._parts[direction]], after)
        inputs = {
            "packets": f"{flow.packets:,.1f}/s",
            "fragments": f"{flow.fragments:,.1f}/s",
            "datagrams that were fragmented": f"{flow.datagrams:,.1f}/s",
            "MTU": f"{self._node.mtu} -> {self._mtu}",
            "block": f"{self._load.block_bytes:,} B",
        }
        if flow.blocks is not None:
            inputs["blocks"] = f"{flow.blocks:,.1f}/s"
        return Estimate(
            name=f"packets {direction}",
            subject=self._node.node,
            unit="1/s",
            now=flow.packets,
            after=after.likely,
            low=low,
            high=high,
            formula="packets - fragments + large datagrams x packets for each at the new MTU",
            inputs=inputs,
        )

    def _wire(self, direction: str) -> Estimate:
        flow, after = self._flows[direction], self._after[direction]

        def bits(packets: float) -> float:
            # Each packet less is an IP and an Ethernet header less, which the interface counts in its bytes.
            return wire_bits(packets, flow.bytes_ + (packets - flow.packets) * 34) / 1e6

        return Estimate(
            name=f"on the wire {direction}",
            subject=self._node.node,
            unit="Mb/s",
            now=bits(flow.packets),
            after=bits(after.likely),
            low=bits(after.low),
            high=bits(after.high),
            formula="8 x (bytes + 24 B for each packet); each packet less saves 34 B of headers more",
            inputs={"bytes": f"{flow.bytes_:,.0f}/s", "packets": f"{flow.packets:,.1f} -> {after.likely:,.1f}/s"},
        )

    @property
    def _change_of_packets(self) -> str:
        return f"{self._packets_now:,.1f} -> {self._packets_after:,.1f}/s"

    def _softirq(self) -> Estimate | NotPredicted:
        """Return the CPU time in soft interrupts: at best it falls with the packets, at worst it stays.

        Where the cost of a packet was measured on the node, the packets less save that.
        """
        known = [stretch.softirq_s for stretch in self._node.stretches if stretch.softirq_s is not None]
        if not known:
            return self._not_predicted(SOFTIRQ, "The CPU time of soft interrupts was not recorded.")
        softirq = 100 * fmean(known)
        cost = fitting(self._cost, softirq, self._packets_now)
        likely, low, high = percent_after(softirq, self._packets_now, self._packets_after, cost)
        inputs = {"soft interrupts": f"{softirq:.2f} % of a CPU", "packets": self._change_of_packets}
        return Estimate(
            name=SOFTIRQ,
            subject=self._node.node,
            unit="% of a CPU",
            now=softirq,
            after=likely,
            low=low,
            high=high,
            formula=formula_of(cost),
            inputs=inputs | inputs_of(cost),
        )

    def _lost(self) -> Estimate | NotPredicted:
        """Return the share of lost blocks: a block of n packets is lost with 1 - (1 - q)^n."""
        name, load, node = "lost blocks", self._load, self._node
        received = self._flows["in"].blocks
        if node.blocks_lost is None or received is None:
            return self._not_predicted(name, "The blocks of its instances were not read.")
        number = load.seconds * (received + node.blocks_lost)
        if not number:
            return self._not_predicted(name, f"No block was sent to {node.node}.")
        frames = tuple(fragments_of(load.block_bytes, size, load.version) for size in (node.mtu, self._mtu))
        share = node.blocks_lost * load.seconds / number
        worst = max(share, min(_SURE_OF_NO / number, 1.0))

        def after(lost: float) -> float:
            return 100 * float(1 - (1 - lost) ** (frames[1] / frames[0]))

        return Estimate(
            name=name,
            subject=node.node,
            unit="%",
            now=100 * share,
            after=after(share),
            low=0.0 if not share else min(after(share), after(worst)),
            high=after(worst),
            formula="1 - (1 - q)^n: n packets for a block, q the loss of a packet, where losses are independent",
            inputs={
                "lost": f"{counted(round(node.blocks_lost * load.seconds), 'block')} of {number:,.0f}",
                "packets for a block": f"{frames[0]} -> {frames[1]}",
            },
        )

    def _times_until_links_are_full(self, wire: Collection[Estimate]) -> Estimate | NotPredicted:
        node = self._node
        if not all(link.speed_mbps for link in node.links):
            return self._not_predicted(_LINKS_FULL, "The speed of a private link is not known.")
        capacity = sum(link.speed_mbps or 0 for link in node.links)
        return _exact(
            _LINKS_FULL,
            "x",
            (capacity / max(one.now for one in wire), capacity / max(one.after for one in wire)),
            "speed of all private links / bits on the wire in the busier direction, if the links share the load",
            {"links": f"{counted(len(node.links), 'link')}, {capacity:,.0f} Mb/s together"},
            node.node,
        )

    def _times_until_a_cpu_is_full(self, softirq: Estimate | NotPredicted) -> Estimate | NotPredicted:
        busiest = [one.busiest_softirq for one in self._node.stretches if one.busiest_softirq is not None]
        share = fmean(busiest) if busiest else 0.0
        if not (share > 0 and self._packets_after):
            return self._not_predicted(_CPU_FULL, "No CPU was seen in soft interrupts.")
        fewer = self._packets_now / self._packets_after
        times, bounds = fewer / share, (1.0, fewer)
        formula = "1 / share of the busiest CPU, x packets now / after, if private packets need that whole share"
        if isinstance(softirq, Estimate) and isinstance(self._cost, FragmentCost) and softirq.low:
            times = softirq.now / softirq.after / share
            bounds = softirq.now / softirq.high, softirq.now / softirq.low
            formula = "1 / share of the busiest CPU, x CPU time in soft interrupts now / after"
        return Estimate(
            name=_CPU_FULL,
            subject=self._node.node,
            unit="x",
            now=1 / share,
            after=times,
            low=min(bounds) / share,
            high=max(bounds) / share,
            formula=formula,
            inputs={"busiest CPU": f"{100 * share:.1f} % in soft interrupts", "packets": self._change_of_packets},
        )


def _whole(flows: Sequence[Flow]) -> Flow:
    """Return the flow over the whole measured time. Instances may be sampled later than nodes, and less often."""
    blocks = [flow.blocks for flow in flows if flow.blocks is not None]
    return Flow(
        packets=fmean([flow.packets for flow in flows]),
        bytes_=fmean([flow.bytes_ for flow in flows]),
        fragments=fmean([flow.fragments for flow in flows]),
        datagrams=fmean([flow.datagrams for flow in flows]),
        blocks=fmean(blocks) if 2 * len(blocks) >= len(flows) else None,
    )


def _interval(values: Sequence[Packets], whole: Packets) -> tuple[float, float]:
    """Return the limits of a prediction: those of its model, widened by the spread between stretches."""
    lows, highs = (median_interval([value[place] for value in values]) for place in (1, 2))
    return min(whole.low, lows[0] if lows else whole.low), max(whole.high, highs[1] if highs else whole.high)
