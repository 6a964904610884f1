"""A prediction as text: what it comes to, then now and after for each node, then the formulas with their inputs."""

from __future__ import annotations

from collections.abc import Iterator

from checks.model.facts import Unknown
from checks.model.interconnect_load import WireTime
from checks.model.wording import continued, lasting, listed
from checks.predict.prediction import Estimate, Prediction
from checks.rules.wire_time import no_network_text
from tui.text.line import Line, hanging, sanitize_line

_INDENT = 2


def prediction_lines(prediction: Prediction, width: int) -> Iterator[Line]:
    """Yield the lines of a prediction, for `width` columns."""
    yield from hanging([], _title(prediction), width, "title")
    measured = (
        f"Measured from {prediction.measured_at[:19].replace('T', ' ')} for {lasting(prediction.seconds)}, in "
        f"{prediction.stretches} stretches. The figures hold for this load."
    )
    yield from hanging([], measured, width, "faint")
    if prediction.is_block_assumed:
        yield from hanging(
            [], "The block size is assumed to be 8 KB: no database was connected (--connect).", width, "faint"
        )
    for remark in prediction.remarks:
        yield from hanging([], remark, width)
    if isinstance(prediction.wire, Unknown):
        no_limit = f"Cannot tell what a network could bring: {continued(prediction.wire.reason)}"
        yield from hanging([], no_limit, width, "unknown")
    else:
        yield from hanging([], no_network_text(prediction.wire), width)
    for subject in dict.fromkeys(one.subject for one in prediction.estimates):
        yield []
        yield from _table(subject, [one for one in prediction.estimates if one.subject == subject], width)
    yield from _not_predicted(prediction, width)
    yield from _formulas(prediction, width)


def _title(prediction: Prediction) -> str:
    before = {mtu: [n for n, m in prediction.mtu_before.items() if m == mtu] for mtu in prediction.mtu_before.values()}
    if len(before) == 1:
        mtus = f"MTU {next(iter(before))} -> {prediction.mtu_after}"
    else:
        each = listed(f"{mtu} on {listed(nodes)}" for mtu, nodes in before.items())
        mtus = f"MTU {f'{each} ' if each else ''}-> {prediction.mtu_after}"
    return f"{mtus}{f' on {prediction.cluster}' if prediction.cluster else ''}"


def _table(subject: str, estimates: list[Estimate], width: int) -> Iterator[Line]:
    name = max(len(_name(one)) for one in estimates)
    columns = [[_figure(one.now), _figure(one.after), _interval(one)] for one in estimates]
    now, after, _ = (max(len(row[place]) for row in columns) for place in range(3))
    now, after = max(now, 3), max(after, 5)
    head = f"{sanitize_line(subject) or 'one block':<{name + _INDENT}}  {'now':>{now}}  {'after':>{after}}"
    yield [(head, "title"), ("  95 % interval" if any(row[2] for row in columns) else "", "faint")]
    for one, (was, becomes, between) in zip(estimates, columns, strict=True):
        start: Line = [(f"{' ' * _INDENT}{_name(one):<{name}}  {was:>{now}}  {becomes:>{after}}", "")]
        yield [*start, (f"  {between}", "faint")] if between else start


def _name(one: Estimate) -> str:
    return f"{one.name}, {one.unit}" if one.unit else one.name


def _figure(value: float) -> str:
    if value and abs(value) < 0.01:
        return f"{value:.1e}"
    return f"{value:,.0f}" if abs(value) >= 100 or value == round(value) else f"{value:,.2f}"


def _interval(one: Estimate) -> str:
    low, high = _figure(one.low), _figure(one.high)
    return "" if low == high else f"{low} to {high}"


def _not_predicted(prediction: Prediction, width: int) -> Iterator[Line]:
    """Yield what cannot be predicted: each reason once."""
    if not prediction.not_predicted:
        return
    yield []
    yield [("Cannot tell", "unknown")]
    reasons: dict[tuple[str, str], list[str]] = {}
    for one in prediction.not_predicted:
        reasons.setdefault((one.name, one.reason), []).append(one.subject)
    for (name, reason), subjects in reasons.items():
        yield from hanging([(" " * _INDENT, "")], f"{listed(subjects)}: {name}. {reason}", width)


def _formulas(prediction: Prediction, width: int) -> Iterator[Line]:
    """Yield each formula once, with the inputs of each node."""
    yield []
    yield [("How it is calculated", "title")]
    for name in dict.fromkeys(one.name for one in prediction.estimates):
        own = [one for one in prediction.estimates if one.name == name]
        yield from hanging([(f"{' ' * _INDENT}{name} = ", "")], own[0].formula, width, indent=2 * _INDENT)
        for inputs, subjects in _alike(own).items():
            label = f"{listed(subjects)}: " if any(subjects) else ""
            yield from hanging([(" " * 2 * _INDENT, "")], f"{label}{inputs}", width, "faint")
    if isinstance(prediction.wire, WireTime):
        for name, formula in prediction.wire.formulas.items():
            start = f"{' ' * _INDENT}on the wire, {name} = "
            yield from hanging([(start, "")], formula, width, indent=2 * _INDENT)
        inputs = "; ".join(f"{name} {value}" for name, value in prediction.wire.inputs.items())
        yield from hanging([(" " * 2 * _INDENT, "")], inputs, width, "faint")


def _alike(estimates: list[Estimate]) -> dict[str, list[str]]:
    """Return the subjects by their inputs as text."""
    found: dict[str, list[str]] = {}
    for one in estimates:
        text = "; ".join(f"{key} {value}" for key, value in one.inputs.items())
        found.setdefault(text, []).append(one.subject)
    return found
