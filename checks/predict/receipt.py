"""The receipt of a prediction: what a recording predicts for another MTU, and what was measured at that MTU."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean

from checks.model.facts import PredictedFigure
from checks.predict.measured_load import MeasuredLoad, NodeLoad
from checks.predict.predicting import predict
from checks.predict.prediction import Estimate

_FIGURES = ("packets in", "packets out", "on the wire in", "on the wire out", "CPU in soft interrupts")
"""The figures of a node that a recording can confirm."""


def receipt(before: MeasuredLoad, after: MeasuredLoad) -> Iterator[PredictedFigure]:
    """Yield each figure that `before` predicts for the MTU of `after`, and that `after` has measured.

    Nothing is compared where the nodes of `after` have different MTUs, or where the MTU is the same.
    """
    mtus = {node.mtu for node in after.nodes}
    if len(mtus) != 1 or mtus == {node.mtu for node in before.nodes}:
        return
    (mtu,) = mtus
    measured = {(one.subject, one.name): one for one in predict(after, mtu).estimates}
    loads = {node.node: node for node in before.nodes}, {node.node: node for node in after.nodes}
    for one in predict(before, mtu).estimates:
        found = measured.get((one.subject, one.name))
        if one.name in _FIGURES and found is not None:
            yield PredictedFigure(
                name=f"{one.subject} {one.name}",
                predicted=_with_interval(one),
                measured=_figure(found.now, one.unit),
                at_load=_share(loads[0].get(one.subject), loads[1].get(one.subject)),
            )


def _with_interval(one: Estimate) -> str:
    text = _figure(one.after, one.unit)
    low, high = _number(one.low), _number(one.high)
    return text if low == high else f"{text} ({low} to {high})"


def _figure(value: float, unit: str) -> str:
    return f"{_number(value)}/s" if unit == "1/s" else f"{_number(value)} {unit}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _share(before: NodeLoad | None, after: NodeLoad | None) -> str:
    """Return the blocks that the node received after the change, as a share of those before it."""
    was, becomes = (_blocks(node) if node else None for node in (before, after))
    return f"{100 * becomes / was:.0f} % of the blocks" if was and becomes is not None else ""


def _blocks(node: NodeLoad) -> float | None:
    known = [stretch.inbound.blocks for stretch in node.stretches if stretch.inbound.blocks is not None]
    return fmean(known) if known else None
