"""The figures of the Traffic screen: the name of each, its source, its format, and whether it is bad."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from checks.rules.cache_fusion import per_second
from checks.traffic.rates import InstanceRates, KernelRates
from checks.traffic.samples import InterfaceCounts
from tui.screens.traffic.rate_history import InterfacePoint, Series
from tui.widgets import units as units

P = TypeVar("P")


@dataclass(frozen=True)
class RowMetric(Generic[P]):
    """A figure in a row."""

    label: str
    read: Callable[[P], float | None]
    text: Callable[[float | None], str] = units.rate
    role: str = ""
    """The role of a value above 0; empty where such a value is normal traffic."""
    least: Callable[[P], float | None] | None = None
    """Upper bound in milliseconds of a time that was counted as 0; None for other figures."""
    is_rare: bool = False
    """Whether only some samples have the figure: then the newest known one counts as present."""

    def now(self, series: Series[P]) -> str:
        """Return the present value as text."""
        value = series.now(self.read)
        if value is None and self.is_rare and not series.trouble:
            value = next((known for known in reversed(series.values(self.read)) if known is not None), None)
        return self._written(value, series.now(self.least) if self.least and value == 0 else None)

    def highest(self, series: Series[P], count: int) -> str:
        """Return the highest of the newest `count` values as text."""
        value = _highest(series.values(self.read), count)
        return self._written(value, _highest(series.values(self.least), count) if self.least and value == 0 else None)

    def _written(self, value: float | None, least: float | None) -> str:
        return self.text(value) if least is None else units.less_than_ms(least)

    def role_of(self, value: float | None) -> str:
        """Return the role of a value."""
        return self.role if value is not None and value > 0 else ""


@dataclass(frozen=True)
class Group(Generic[P]):
    """Figures that are displayed together."""

    first: tuple[RowMetric[P], ...]
    """The figures of the first line: the amount of work."""
    second: tuple[RowMetric[P], ...]
    """The figures of the line with the graph, which draws the first of them: what goes wrong."""
    further: tuple[RowMetric[P], ...] = ()
    """Figures for the group alone only."""

    @property
    def graphed(self) -> RowMetric[P]:
        """The figure that the graph draws."""
        return self.second[0]

    @property
    def everything(self) -> tuple[RowMetric[P], ...]:
        """All figures of the group, the graphed one first."""
        return (*self.second, *self.first, *self.further)


IP: Group[KernelRates] = Group(
    first=(
        RowMetric("fragments in", lambda r: r.fragments_in_per_s),
        RowMetric("reassembled", lambda r: r.reassembled_per_s),
        RowMetric("created", lambda r: r.fragments_made_per_s),
    ),
    second=(
        RowMetric("FAILED", lambda r: r.reassembly_failed_per_s, role="fail"),
        RowMetric("timed out", lambda r: r.reassembly_timed_out_per_s, role="fail"),
    ),
    further=(RowMetric("fragmenting failed", lambda r: r.fragmenting_failed_per_s, role="warn"),),
)
UDP: Group[KernelRates] = Group(
    first=(
        RowMetric("in", lambda r: r.udp_in_per_s),
        RowMetric("out", lambda r: r.udp_out_per_s),
        RowMetric("send-buffer errors", lambda r: r.udp_send_buffer_errors_per_s, role="warn"),
        RowMetric("no port", lambda r: r.udp_no_port_per_s),
    ),
    second=(RowMetric("receive-buffer errors", lambda r: r.udp_receive_buffer_errors_per_s, role="fail"),),
    further=(RowMetric("all input errors", lambda r: r.udp_in_errors_per_s, role="warn"),),
)
CPU: Group[KernelRates] = Group(
    first=(
        RowMetric("busy", lambda r: r.busy_percent, units.share),
        RowMetric("load", lambda r: r.load, units.load),
        RowMetric("softnet dropped", lambda r: r.softnet_dropped_per_s, role="fail"),
        RowMetric("squeezed", lambda r: r.softnet_squeezed_per_s),
    ),
    second=(
        RowMetric("softirq", lambda r: r.softirq_percent, units.share),
        RowMetric("busiest CPU", lambda r: r.busiest_softirq_percent, units.share),
    ),
)
INSTANCE: Group[InstanceRates] = Group(
    first=(
        RowMetric("blocks in", lambda r: r.blocks_in_per_s),
        RowMetric("out", lambda r: r.blocks_out_per_s),
        RowMetric("cr", lambda r: r.cr_receive_ms, units.milliseconds, least=lambda r: r.least_cr_receive_ms),
        RowMetric(
            "current", lambda r: r.current_receive_ms, units.milliseconds, least=lambda r: r.least_current_receive_ms
        ),
    ),
    second=(RowMetric("lost", lambda r: r.lost_per_s, role="fail"),),
    further=(RowMetric("messages in", lambda r: r.messages_in_per_s, is_rare=True),),
)
KERNEL = {"IP": IP, "UDP": UDP, "CPU": CPU}

BITS_IN: RowMetric[InterfacePoint] = RowMetric("in", lambda p: p.rates.rx.bits_per_s, units.bits)
BITS_OUT: RowMetric[InterfacePoint] = RowMetric("out", lambda p: p.rates.tx.bits_per_s, units.bits)


def _highest(values: Sequence[float | None], count: int) -> float | None:
    newest = values[-count:] if count else ()
    return max((value for value in newest if value is not None), default=None)


def _count(label: str, read: Callable[[InterfaceCounts], int], role: str = "") -> RowMetric[InterfacePoint]:
    return RowMetric(label, lambda p: per_second(read(p.counts), p.seconds), role=role)


INTERFACE: tuple[RowMetric[InterfacePoint], ...] = (
    BITS_IN,
    BITS_OUT,
    RowMetric("packets in", lambda p: p.rates.rx.packets_per_s),
    RowMetric("packets out", lambda p: p.rates.tx.packets_per_s),
    RowMetric("mean size in", lambda p: p.rates.rx.mean_packet_bytes, units.size),
    RowMetric("mean size out", lambda p: p.rates.tx.mean_packet_bytes, units.size),
    RowMetric("drops in", lambda p: p.rates.rx.drops_per_s, role="warn"),
    RowMetric("drops out", lambda p: p.rates.tx.drops_per_s, role="warn"),
    RowMetric("errors in", lambda p: p.rates.rx.errors_per_s, role="fail"),
    RowMetric("errors out", lambda p: p.rates.tx.errors_per_s, role="fail"),
    _count("fifo overruns in", lambda c: c.rx_fifo, "fail"),
    _count("fifo overruns out", lambda c: c.tx_fifo, "fail"),
    _count("frame errors in", lambda c: c.rx_frame, "fail"),
    _count("carrier errors out", lambda c: c.tx_carrier, "fail"),
    _count("collisions out", lambda c: c.tx_collisions, "fail"),
    _count("multicast in", lambda c: c.rx_multicast),
)
"""All counters of an interface; the first four have large graphs where there is room."""
