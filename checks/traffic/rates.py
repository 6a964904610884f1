"""Samples as what is shown: per second, in percent, on average. A figure that cannot be told is None, never 0.

Network rates count bits (as link speeds do), sizes count bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from checks.rules import cache_fusion
from checks.traffic.samples import InstanceSample, InterfaceCounts, Link, NodeSample

_MOST = 1e200
"""No figure is higher. Nothing that is done with one then overflows."""


@dataclass(frozen=True)
class Direction:
    """What went through an interface one way."""

    bits_per_s: float
    packets_per_s: float
    mean_packet_bytes: float | None
    """With the Ethernet header, as the interface counts it; None where no packet went."""
    share_percent: float | None
    """Of the link's speed; None where that is not known."""
    drops_per_s: float
    errors_per_s: float


@dataclass(frozen=True)
class InterfaceRates:
    """Both ways."""

    rx: Direction
    tx: Direction


def interface_rates(counts: InterfaceCounts, seconds: float, link: Link | None = None) -> InterfaceRates | None:
    """The rates of one interface; None where nothing can be told of so short a time, or of such counts."""
    speed_mbps = link.speed_mbps if link else None
    rx = _direction(counts.rx_bytes, counts.rx_packets, counts.rx_dropped, counts.rx_errors, seconds, speed_mbps)
    tx = _direction(counts.tx_bytes, counts.tx_packets, counts.tx_dropped, counts.tx_errors, seconds, speed_mbps)
    return InterfaceRates(rx, tx) if rx is not None and tx is not None else None


def _direction(
    bytes_: int, packets: int, drops: int, errors: int, seconds: float, speed_mbps: int | None
) -> Direction | None:
    if not _can_divide(seconds, 8 * bytes_, packets, drops, errors):
        return None
    bits_per_s = 8 * bytes_ / seconds
    return Direction(
        bits_per_s=bits_per_s,
        packets_per_s=packets / seconds,
        mean_packet_bytes=bytes_ / packets if packets else None,
        share_percent=bits_per_s / (speed_mbps * 1e4) if speed_mbps else None,
        drops_per_s=drops / seconds,
        errors_per_s=errors / seconds,
    )


def bits_per_second(bytes_: int, seconds: float) -> float | None:
    """What went through in each second; None where nothing can be told of so short a time."""
    return _quotient(8 * bytes_, seconds)


def _can_divide(divisor: float, *dividends: float) -> bool:
    """Whether the quotients are numbers that mean something: a recording can hold any figures."""
    return 0 < divisor <= _MOST and min(dividends) >= 0 and max(dividends) <= _MOST * min(divisor, 1.0)


def _quotient(dividend: float, divisor: float) -> float | None:
    return dividend / divisor if _can_divide(divisor, dividend) else None


@dataclass(frozen=True)
class KernelRates:
    """What a node's IP and UDP did; None where this kernel does not count it, or it cannot be told of this time."""

    fragments_in_per_s: float | None
    reassembled_per_s: float | None
    reassembly_failed_per_s: float | None
    reassembly_timed_out_per_s: float | None
    fragments_made_per_s: float | None
    fragmenting_failed_per_s: float | None
    udp_in_per_s: float | None
    udp_out_per_s: float | None
    udp_receive_buffer_errors_per_s: float | None
    udp_send_buffer_errors_per_s: float | None
    udp_in_errors_per_s: float | None
    """All datagrams that came and could not be given to a socket, those for want of buffer included."""
    udp_no_port_per_s: float | None
    softnet_dropped_per_s: float | None
    softnet_squeezed_per_s: float | None
    softirq_percent: float | None
    busiest_softirq_percent: float | None
    busy_percent: float | None
    load: float | None


def kernel_rates(sample: NodeSample) -> KernelRates:
    """The rates of a node as a whole."""

    def per_s(name: str) -> float | None:
        count = sample.counters.get(name)
        return None if count is None else _quotient(count, sample.seconds)

    cpu = (
        sample.cpu if sample.cpu and _can_divide(sample.cpu.total_s, sample.cpu.softirq_s, sample.cpu.idle_s) else None
    )
    return KernelRates(
        fragments_in_per_s=per_s("Ip.ReasmReqds"),
        reassembled_per_s=per_s("Ip.ReasmOKs"),
        reassembly_failed_per_s=per_s("Ip.ReasmFails"),
        reassembly_timed_out_per_s=per_s("Ip.ReasmTimeout"),
        fragments_made_per_s=per_s("Ip.FragCreates"),
        fragmenting_failed_per_s=per_s("Ip.FragFails"),
        udp_in_per_s=per_s("Udp.InDatagrams"),
        udp_out_per_s=per_s("Udp.OutDatagrams"),
        udp_receive_buffer_errors_per_s=per_s("Udp.RcvbufErrors"),
        udp_send_buffer_errors_per_s=per_s("Udp.SndbufErrors"),
        udp_in_errors_per_s=per_s("Udp.InErrors"),
        udp_no_port_per_s=per_s("Udp.NoPorts"),
        softnet_dropped_per_s=per_s("Softnet.Dropped"),
        softnet_squeezed_per_s=per_s("Softnet.TimeSqueezed"),
        softirq_percent=100 * cpu.softirq_s / cpu.total_s if cpu else None,
        busiest_softirq_percent=cpu.busiest_softirq_percent if cpu else None,
        busy_percent=100 * (1 - cpu.idle_s / cpu.total_s) if cpu else None,
        load=sample.load,
    )


@dataclass(frozen=True)
class InstanceRates:
    """What an instance's Cache Fusion did; None where it cannot be told."""

    blocks_in_per_s: float | None
    blocks_out_per_s: float | None
    lost_per_s: float | None
    cr_receive_ms: float | None
    """On average; None where no block came."""
    current_receive_ms: float | None
    least_cr_receive_ms: float | None
    """Where the average is 0 it is only less than this: `cache_fusion.least_average_ms`."""
    least_current_receive_ms: float | None
    messages_in_per_s: float | None


def instance_rates(sample: InstanceSample) -> InstanceRates:
    """The rates of one instance."""
    statistics, seconds = sample.statistics, sample.seconds
    return InstanceRates(
        blocks_in_per_s=cache_fusion.per_second(cache_fusion.received(statistics), seconds),
        blocks_out_per_s=cache_fusion.per_second(cache_fusion.served(statistics), seconds),
        lost_per_s=cache_fusion.per_second(cache_fusion.lost(statistics), seconds),
        cr_receive_ms=cache_fusion.average_cr_receive_ms(statistics),
        current_receive_ms=cache_fusion.average_current_receive_ms(statistics),
        least_cr_receive_ms=cache_fusion.least_average_ms(statistics.get(cache_fusion.CR_RECEIVED)),
        least_current_receive_ms=cache_fusion.least_average_ms(statistics.get(cache_fusion.CURRENT_RECEIVED)),
        messages_in_per_s=cache_fusion.per_second(cache_fusion.messages_received(sample.messages), seconds),
    )


def highest(values: Iterable[float | None]) -> float | None:
    """The highest of what is known; None where nothing is."""
    return max((value for value in values if value is not None), default=None)
