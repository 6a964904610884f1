"""Computes the displayed figures of samples: rates, percentages, averages. An unknown figure is None, never 0.

Network rates count bits (as link speeds do), sizes count bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from checks.rules import cache_fusion
from checks.traffic.samples import InstanceSample, InterfaceCounts, Link, NodeSample

_MOST = 1e200
"""The largest figure that is used, so that no calculation overflows."""


@dataclass(frozen=True)
class Direction:
    """The traffic of an interface in one direction."""

    bits_per_s: float
    packets_per_s: float
    mean_packet_bytes: float | None
    """The mean size with the Ethernet header, as the interface counts it; None where there was no packet."""
    share_percent: float | None
    """The share of the link's speed; None where the speed is not known."""
    drops_per_s: float
    errors_per_s: float


@dataclass(frozen=True)
class InterfaceRates:
    """The traffic of an interface in both directions."""

    rx: Direction
    tx: Direction


def interface_rates(counts: InterfaceCounts, seconds: float, link: Link | None = None) -> InterfaceRates | None:
    """Return the rates of one interface; None where the time is too short, or the counts are invalid."""
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
    """Return the bits per second; None where the time is too short."""
    return _quotient(8 * bytes_, seconds)


def _can_divide(divisor: float, *dividends: float) -> bool:
    """Whether the quotients are valid numbers: a recording can contain any figures."""
    return 0 < divisor <= _MOST and min(dividends) >= 0 and max(dividends) <= _MOST * min(divisor, 1.0)


def _quotient(dividend: float, divisor: float) -> float | None:
    return dividend / divisor if _can_divide(divisor, dividend) else None


@dataclass(frozen=True)
class KernelRates:
    """The rates of a node's IP and UDP. None is a figure that this kernel does not count or that is unknown now."""

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
    """All received datagrams that no socket could take, including those without buffer space."""
    udp_no_port_per_s: float | None
    softnet_dropped_per_s: float | None
    softnet_squeezed_per_s: float | None
    softirq_percent: float | None
    busiest_softirq_percent: float | None
    busy_percent: float | None
    load: float | None


def kernel_rates(sample: NodeSample) -> KernelRates:
    """Return the rates of a whole node."""

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
    """The Cache Fusion rates of an instance. None is an unknown figure."""

    blocks_in_per_s: float | None
    blocks_out_per_s: float | None
    lost_per_s: float | None
    cr_receive_ms: float | None
    """The average; None where no block arrived."""
    current_receive_ms: float | None
    least_cr_receive_ms: float | None
    """The upper limit of the average where it was counted as 0: `cache_fusion.least_average_ms`."""
    least_current_receive_ms: float | None
    messages_in_per_s: float | None


def instance_rates(sample: InstanceSample) -> InstanceRates:
    """Return the rates of one instance."""
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
    """Return the highest known value; None where no value is known."""
    return max((value for value in values if value is not None), default=None)
