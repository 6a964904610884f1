"""The page of `racwire doctor` as text: one item after the other, short unless --verbose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TextIO

from checks.model.wording import counted, few
from checks.readiness.readiness_items import Readiness, ReadinessItem
from checks.readiness.refusals import Refusal, Topic
from checks.report.age import time_text
from tui.cli.output import columns_of, render
from tui.text.finding_lines import status_word
from tui.text.line import Line, command_lines, hanging, sanitize_line, width_of

_NARROWEST = 40
_LABEL = 11
_FIRST = 2
"""Refusals of an item, and commands of a step, on the page without --verbose."""
_MOST_CHECKS = 8
"""Names of checks on the page without --verbose."""
_ALL = 1_000


def doctor_page(ready: Readiness, stream: TextIO, *, verbose: bool = False) -> str:
    """The page for that stream: coloured for a terminal (unless NO_COLOR), plain for a pipe or a file."""
    return render(_lines(ready, columns_of(stream, narrowest=_NARROWEST), verbose), stream)


def _lines(ready: Readiness, width: int, verbose: bool) -> Iterator[Line]:
    yield [(_header(ready), "title")]
    yield from hanging([], _verdict(ready), width, "unknown" if ready.unknown or ready.interrupted else "pass")
    yield []
    for item in ready.items:
        yield from _item_lines(item, width, verbose)
    yield []
    yield from hanging([], _last_line(ready, verbose), width, "faint")


def _header(ready: Readiness) -> str:
    parts = [f"racwire {ready.racwire_version} doctor", ready.cluster, f"{ready.local_node}*"]
    parts += [time_text(ready.started_at), f"{ready.duration_s:.1f} s"]
    return "  ".join(sanitize_line(part) for part in parts if part)


def _verdict(ready: Readiness) -> str:
    if ready.interrupted:
        return "Interrupted: the page has what was read up to then."
    if not ready.unknown:
        return "Ready: nothing that racwire read here makes a check UNKNOWN."
    number = len(ready.unknown)
    return f"Not ready: {number} of {counted(len(ready.checks), 'check')} will be UNKNOWN, in part or in full."


def _last_line(ready: Readiness, verbose: bool) -> str:
    more = " `racwire doctor -v` shows all." if not verbose and any(map(_is_shortened, ready.items)) else ""
    return f"racwire sent no ping: only `racwire check` tests the paths between the nodes.{more}"


def _is_shortened(item: ReadinessItem) -> bool:
    steps = (*item.next, *(step for refusal in item.refusals for step in refusal.next))
    return (
        len(item.refusals) > _FIRST
        or len(item.skipped) > _MOST_CHECKS
        or len({check for refusal in item.refusals for check in refusal.checks}) > _MOST_CHECKS
        or any(len(step.commands) > _FIRST for step in steps)
    )


def _item_lines(item: ReadinessItem, width: int, verbose: bool) -> Iterator[Line]:
    """The fact, then the refused sources, the checks that suffer, and the next step."""
    label = f"{item.topic.capitalize():<{_LABEL}}"
    yield from hanging([status_word(item.status), (label, "label")], item.fact, width)
    start: Line = [(" " * (len(status_word(item.status)[0]) + _LABEL), "")]
    own = [refusal for refusal in item.refusals if refusal.reason == item.fact]
    others = [refusal for refusal in item.refusals if refusal not in own]
    shown = others if verbose else others[:_FIRST]
    for refusal in own:
        yield from _refusal_steps(refusal, start, width, verbose)
    for refusal in shown:
        yield from _refusal_lines(refusal, start, width, verbose)
    if len(others) > len(shown):
        yield from hanging(start, f"- and {len(others) - len(shown)} more", width, "faint")
    if item.consequence:
        yield from hanging(start, item.consequence, width)
    unknown = sorted({check for refusal in (own if verbose else item.refusals) for check in refusal.checks})
    yield from _checks_line("UNKNOWN: ", unknown, start, width, verbose)
    yield from _checks_line("Skipped: ", item.skipped, start, width, verbose)
    for step in item.next if verbose else item.next[:1]:
        yield from _step_lines(step.text, step.commands, start, width, verbose)


def _refusal_lines(refusal: Refusal, start: Line, width: int, verbose: bool) -> Iterator[Line]:
    """The source and the reason; a reason that names the node or the source needs no second name."""
    names = [name for name in (refusal.source, *refusal.nodes) if name not in refusal.reason]
    where = few(names[1:] if names[:1] == [refusal.source] else names, _ALL if verbose else 4)
    source = refusal.source if refusal.source in names and refusal.topic is not Topic.NODES else ""
    head = " on ".join(filter(None, (source, where)))
    yield from hanging([*start, ("- ", "")], f"{head}: {refusal.reason}" if head else refusal.reason, width)
    inner: Line = [*start, ("  ", "")]
    if verbose:
        yield from _checks_line("UNKNOWN: ", refusal.checks, inner, width, verbose)
    yield from _refusal_steps(refusal, inner, width, verbose)


def _refusal_steps(refusal: Refusal, start: Line, width: int, verbose: bool) -> Iterator[Line]:
    for step in refusal.next if verbose else refusal.next[:1]:
        new = [command for command in step.commands if command not in refusal.reason]
        if new or not step.commands:
            yield from _step_lines(step.text, new, start, width, verbose)


def _checks_line(label: str, checks: Sequence[str], start: Line, width: int, verbose: bool) -> Iterator[Line]:
    if checks:
        yield from hanging([*start, (label, "label")], few(checks, _ALL if verbose else _MOST_CHECKS), width)


def _step_lines(text: str, commands: Sequence[str], start: Line, width: int, verbose: bool) -> Iterator[Line]:
    """The step; without --verbose only its first commands, which are enough to start."""
    if text:
        yield from hanging(start, text, width)
    for command in commands if verbose else commands[:_FIRST]:
        indent = width_of(start)
        for number, line in enumerate(command_lines(command, indent + 2, width)):
            is_first = number == 0 and not line[0][0].strip()
            yield [(" " * indent + "> ", "label"), *line[1:]] if is_first else line
