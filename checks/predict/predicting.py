"""Predicts what another MTU or block size changes on a cluster, from a recording of its load. No I/O of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from checks.model.facts import Unknown
from checks.model.interconnect_load import WireTime
from checks.model.packet_sizes import fragments_of, wire_bytes_of
from checks.model.wording import counted
from checks.predict.conclusions import BURST, LIMITS, SOFTIRQ, conclusions
from checks.predict.fragment_cost import FragmentCost, formula_of, inputs_of, percent_after
from checks.predict.measured_load import MeasuredLoad, NodeLoad, NodeStretch
from checks.predict.packet_rates import Flow, Packets, packets_at, wire_bits
from checks.predict.prediction import Estimate, NotPredicted, Prediction
from checks.predict.prioritised_flows import prioritisation_remarks
from checks.rules.wire_time import WirePath, wire_time
from checks.traffic.compare.statistics import mean, median_interval

_USUAL_MESSAGE_BYTES = 16_384
"""The default of parallel_execution_message_size (Database Reference)."""
_IDLE = 10.0
"""Large datagrams per second below which a node is idle: its few packets say nothing about a load."""
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
        found = tuple(_of_node(load, node, mtu))
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
    size = {"block": f"{block:,} B"}
    yield _exact(
        "packets for a block",
        "",
        (fragments_of(block, before, load.version), fragments_of(block, mtu, load.version)),
        "block / bytes that a fragment carries, rounded up",
        size,
    )
    yield _exact(
        "bytes on the wire for a block",
        "B",
        (wire_bytes_of(block, before, load.version), wire_bytes_of(block, mtu, load.version)),
        "block + headers of the datagram + 58 B for each packet",
        size,
    )
    message = load.message_bytes or _USUAL_MESSAGE_BYTES
    yield _exact(
        "packets for a message of parallel execution",
        "",
        (fragments_of(message, before, load.version), fragments_of(message, mtu, load.version)),
        "message / bytes that a fragment carries, rounded up",
        {"parallel_execution_message_size": f"{message:,} B{'' if load.message_bytes else ', the default of Oracle'}"},
    )
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


def _of_node(load: MeasuredLoad, node: NodeLoad, mtu: int) -> Iterator[Estimate | NotPredicted]:
    if load.version == 6:
        yield NotPredicted(
            name="packets", subject=node.node, reason="The private networks use IPv6, whose fragments are not recorded."
        )
        return
    idle = _idle(load, node)
    if idle:
        yield NotPredicted(name="packets", subject=node.node, reason=idle)
        return
    for direction, flow_of in _DIRECTIONS:
        yield _packets(load, node, mtu, direction, flow_of)
        yield _wire(load, node, mtu, direction, flow_of)
    yield _softirq(load, node, mtu)
    yield _lost(load, node, mtu)
    yield from _room(load, node, mtu)


def _inbound(stretch: NodeStretch) -> Flow:
    return stretch.inbound


def _outbound(stretch: NodeStretch) -> Flow:
    return stretch.outbound


_DIRECTIONS = (("in", _inbound), ("out", _outbound))


def _idle(load: MeasuredLoad, node: NodeLoad) -> str:
    """Return the reason why a load says nothing: no blocks travel."""
    whole = _whole(node, _inbound), _whole(node, _outbound)
    large = sum(flow.datagrams + (flow.blocks or 0.0) for flow in whole)
    needs_bytes = not large and any(flow.packets and flow.bytes_ / flow.packets > 1_000 for flow in whole)
    if large >= _IDLE or needs_bytes:
        return ""
    return (
        f"{node.node} exchanged {large:.1f} large datagrams per second: it is idle, and the packets of heartbeats do "
        "not change. Measure during a usual load."
    )


def _whole(node: NodeLoad, flow_of: Callable[[NodeStretch], Flow]) -> Flow:
    """Return the flow over the whole measured time. Instances may be sampled later than nodes, and less often."""
    flows = [flow_of(stretch) for stretch in node.stretches]
    blocks = [flow.blocks for flow in flows if flow.blocks is not None]
    return Flow(
        packets=mean([flow.packets for flow in flows]),
        bytes_=mean([flow.bytes_ for flow in flows]),
        fragments=mean([flow.fragments for flow in flows]),
        datagrams=mean([flow.datagrams for flow in flows]),
        blocks=mean(blocks) if 2 * len(blocks) >= len(flows) else None,
    )


def _at(load: MeasuredLoad, node: NodeLoad, flow: Flow, mtu: int) -> Packets:
    return packets_at(flow, node.mtu, mtu, load.block_bytes, load.version)


def _interval(values: Sequence[Packets], whole: Packets) -> tuple[float, float]:
    """Return the limits of a prediction: those of its model, widened by the spread between stretches."""
    lows, highs = (median_interval([value[place] for value in values]) for place in (1, 2))
    return min(whole.low, lows[0] if lows else whole.low), max(whole.high, highs[1] if highs else whole.high)


def _packets(
    load: MeasuredLoad, node: NodeLoad, mtu: int, direction: str, flow_of: Callable[[NodeStretch], Flow]
) -> Estimate:
    flow = _whole(node, flow_of)
    after = _at(load, node, flow, mtu)
    low, high = _interval([_at(load, node, flow_of(stretch), mtu) for stretch in node.stretches], after)
    inputs = {
        "packets": f"{flow.packets:,.1f}/s",
        "fragments": f"{flow.fragments:,.1f}/s",
        "datagrams that were fragmented": f"{flow.datagrams:,.1f}/s",
        "MTU": f"{node.mtu} -> {mtu}",
        "block": f"{load.block_bytes:,} B",
    }
    if flow.blocks is not None:
        inputs["blocks"] = f"{flow.blocks:,.1f}/s"
    return Estimate(
        name=f"packets {direction}",
        subject=node.node,
        unit="1/s",
        now=flow.packets,
        after=after.likely,
        low=low,
        high=high,
        formula="packets - fragments + large datagrams x packets for each at the new MTU",
        inputs=inputs,
    )


def _wire(
    load: MeasuredLoad, node: NodeLoad, mtu: int, direction: str, flow_of: Callable[[NodeStretch], Flow]
) -> Estimate:
    flow = _whole(node, flow_of)
    after = _at(load, node, flow, mtu)

    def bits(packets: float) -> float:
        # Each packet less is an IP and an Ethernet header less, which the interface counts in its bytes.
        return wire_bits(packets, flow.bytes_ + (packets - flow.packets) * 34) / 1e6

    return Estimate(
        name=f"on the wire {direction}",
        subject=node.node,
        unit="Mb/s",
        now=bits(flow.packets),
        after=bits(after.likely),
        low=bits(after.low),
        high=bits(after.high),
        formula="8 x (bytes + 24 B for each packet); each packet less saves 34 B of headers more",
        inputs={"bytes": f"{flow.bytes_:,.0f}/s", "packets": f"{flow.packets:,.1f} -> {after.likely:,.1f}/s"},
    )


def _both_ways(load: MeasuredLoad, node: NodeLoad, mtu: int) -> tuple[float, float]:
    """Return the packets per second now, and after, both directions together."""
    flows = _whole(node, _inbound), _whole(node, _outbound)
    return sum(flow.packets for flow in flows), sum(_at(load, node, flow, mtu).likely for flow in flows)


def _softirq(load: MeasuredLoad, node: NodeLoad, mtu: int) -> Estimate | NotPredicted:
    """Return the CPU time in soft interrupts: at best it falls with the packets, at worst it stays.

    Where the cost of a packet was measured on the node, the packets less save that.
    """
    name = SOFTIRQ
    known = [stretch.softirq_s for stretch in node.stretches if stretch.softirq_s is not None]
    if not known:
        return NotPredicted(name=name, subject=node.node, reason="The CPU time of soft interrupts was not recorded.")
    now, after = _both_ways(load, node, mtu)
    softirq = 100 * mean(known)
    cost = load.fragment_costs.get(node.node)
    inputs = {"soft interrupts": f"{softirq:.2f} % of a CPU", "packets": f"{now:,.1f} -> {after:,.1f}/s"}
    likely, low, high = percent_after(softirq, now, after, cost)
    return Estimate(
        name=name,
        subject=node.node,
        unit="% of a CPU",
        now=softirq,
        after=likely,
        low=low,
        high=high,
        formula=formula_of(cost),
        inputs=inputs | inputs_of(cost),
    )


def _lost(load: MeasuredLoad, node: NodeLoad, mtu: int) -> Estimate | NotPredicted:
    """Return the share of lost blocks: a block of n packets is lost with 1 - (1 - q)^n."""
    name = "lost blocks"
    received = _whole(node, _inbound).blocks
    if node.blocks_lost is None or received is None:
        return NotPredicted(name=name, subject=node.node, reason="The blocks of its instances were not read.")
    number = load.seconds * (received + node.blocks_lost)
    if not number:
        return NotPredicted(name=name, subject=node.node, reason=f"No block was sent to {node.node}.")
    frames = tuple(fragments_of(load.block_bytes, size, load.version) for size in (node.mtu, mtu))
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


def _room(load: MeasuredLoad, node: NodeLoad, mtu: int) -> Iterator[Estimate | NotPredicted]:
    """Yield how many times the load each limit allows, now and at the new MTU."""
    links, softirq = LIMITS
    if all(link.speed_mbps for link in node.links):
        capacity = 1e6 * sum(link.speed_mbps or 0 for link in node.links)
        wire = [_wire(load, node, mtu, direction, flow_of) for direction, flow_of in _DIRECTIONS]
        now, after = 1e6 * max(one.now for one in wire), 1e6 * max(one.after for one in wire)
        yield _exact(
            links,
            "x",
            (capacity / now, capacity / after),
            "speed of all private links / bits on the wire in the busier direction, if the links share the load",
            {"links": f"{counted(len(node.links), 'link')}, {capacity / 1e6:,.0f} Mb/s together"},
            node.node,
        )
    else:
        yield NotPredicted(name=links, subject=node.node, reason="The speed of a private link is not known.")
    busiest = [stretch.busiest_softirq for stretch in node.stretches if stretch.busiest_softirq is not None]
    packets_now, packets_after = _both_ways(load, node, mtu)
    share = mean(busiest) if busiest else 0.0
    whole = _softirq(load, node, mtu)
    if share > 0 and packets_after:
        times, bounds = packets_now / packets_after / share, (1.0, packets_now / packets_after)
        formula = "1 / share of the busiest CPU, x packets now / after, if private packets need that whole share"
        if isinstance(whole, Estimate) and isinstance(load.fragment_costs.get(node.node), FragmentCost) and whole.low:
            times, bounds = whole.now / whole.after / share, (whole.now / whole.high, whole.now / whole.low)
            formula = "1 / share of the busiest CPU, x CPU time in soft interrupts now / after"
        yield Estimate(
            name=softirq,
            subject=node.node,
            unit="x",
            now=1 / share,
            after=times,
            low=min(bounds) / share,
            high=max(bounds) / share,
            formula=formula,
            inputs={
                "busiest CPU": f"{100 * share:.1f} % in soft interrupts",
                "packets": f"{packets_now:,.1f} -> {packets_after:,.1f}/s",
            },
        )
    else:
        yield NotPredicted(name=softirq, subject=node.node, reason="No CPU was seen in soft interrupts.")
    yield NotPredicted(
        name="times the load until the NICs carry no more packets",
        subject=node.node,
        reason="The packets per second that a NIC and a switch can carry are not known to racwire.",
    )
