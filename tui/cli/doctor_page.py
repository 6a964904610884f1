"""The page of `racwire doctor` as text: one item after the other, short unless --verbose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TextIO

from checks.model.finding import NextStep
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
_MOST_CHECKS = 3
"""Names of checks on the page without --verbose."""
_ALL = 1_000
_ALSO = "Also not read: "


def doctor_page(ready: Readiness, stream: TextIO, *, verbose: bool = False) -> str:
    """The page for that stream: coloured for a terminal (unless NO_COLOR), plain for a pipe or a file."""
    return render(_lines(ready, columns_of(stream, narrowest=_NARROWEST), verbose), stream)


def _lines(ready: Readiness, width: int, verbose: bool) -> Iterator[Line]:
    yield [(_header(ready), "title")]
    yield from hanging([], _verdict(ready), width, "unknown" if ready.unknown or ready.interrupted else "pass")
    for item in ready.items:
        yield from _item_lines(item, width, verbose)
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
    more = "; `racwire doctor -v` shows all reasons" if not verbose and any(map(_is_shortened, ready.items)) else ""
    return f"No ping was sent: paths are not tested{more}."


def _is_shortened(item: ReadinessItem) -> bool:
    steps = (*item.next, *(step for refusal in item.refusals for step in refusal.next))
    return (
        bool(item.refusals)
        or len(item.skipped) > _MOST_CHECKS
        or len({check for refusal in item.refusals for check in refusal.checks}) > _MOST_CHECKS
        or any(len(step.commands) > _FIRST for step in steps)
    )


def _item_lines(item: ReadinessItem, width: int, verbose: bool) -> Iterator[Line]:
    """The fact, then the refused sources, the checks that suffer, and the next step."""
    label = f"{item.topic.capitalize():<{_LABEL}}"
    start: Line = [(" " * (len(status_word(item.status)[0]) + _LABEL), "")]
    own = [refusal for refusal in item.refusals if refusal.reason == item.fact]
    others = [refusal for refusal in item.refusals if refusal not in own]
    harmless = [] if verbose else [refusal for refusal in others if not refusal.checks]
    others = [refusal for refusal in others if refusal not in harmless]
    shown = others if verbose else others[:_FIRST]
    head: Line = [status_word(item.status), (label, "label")]
    if item.fact.endswith(":") and not verbose and len(shown) < 2:  # a list of one is a sentence
        texts = [_refusal_text(refusal, verbose) for refusal in shown] or [f"{_sources(harmless)}."]
        is_reason = any(not _is_right(refusal, verbose) for refusal in shown)
        yield from hanging(head, texts[0] if is_reason else f"{item.fact} {texts[0]}", width)
        for refusal in shown:
            yield from _refusal_steps(refusal, texts[0], start, width, verbose)
    else:
        yield from hanging(head, item.fact, width)
        for refusal in own:
            yield from _refusal_steps(refusal, item.fact, start, width, verbose)
        for refusal in shown:
            text = _refusal_text(refusal, verbose)
            yield from hanging([*start, ("- ", "")], text, width)
            inner: Line = [*start, ("  ", "")]
            if verbose:
                yield from _checks_line("UNKNOWN: ", refusal.checks, inner, width, verbose)
            yield from _refusal_steps(refusal, text, inner, width, verbose)
    if len(others) > len(shown):
        yield from hanging(start, f"- and {len(others) - len(shown)} more", width, "faint")
    if harmless and (shown or not item.fact.endswith(":")):
        yield from hanging(start, f"{_ALSO}{_sources(harmless)}.", width, "faint")
    if item.consequence:
        yield from hanging(start, item.consequence, width)
    unknown = sorted({check for refusal in (own if verbose else item.refusals) for check in refusal.checks})
    yield from _checks_line("UNKNOWN: ", unknown, start, width, verbose)
    yield from _checks_line("Skipped: ", item.skipped, start, width, verbose)
    for step in item.next if verbose else item.next[:1]:
        yield from _step_lines(_step_text(step), step.commands, start, width, verbose)


def _refusal_text(refusal: Refusal, verbose: bool) -> str:
    """The source and the reason; without --verbose a missing right replaces the reason, which repeats it."""
    is_right = _is_right(refusal, verbose)
    reason = _step_text(refusal.next[0]) if is_right else refusal.reason
    most = _ALL if verbose else _FIRST
    names = few([name for name in (refusal.source, *(refusal.others if is_right else ())) if name not in reason], most)
    nodes = few([node for node in refusal.nodes if node not in reason], most)
    if refusal.topic is Topic.NODES or (refusal.topic is Topic.READABLE and refusal.others and not is_right):
        names = ""  # the reason is not that of one source
    source = " on ".join(filter(None, (names, nodes)))
    return f"{source}{'. ' if is_right else ': '}{reason}" if source else reason


def _is_right(refusal: Refusal, verbose: bool) -> bool:
    return bool(refusal.right and refusal.next and not verbose)


def _sources(refusals: Sequence[Refusal]) -> str:
    return few([name for refusal in refusals for name in (refusal.source, *refusal.others)], 6)


def _refusal_steps(refusal: Refusal, shown: str, start: Line, width: int, verbose: bool) -> Iterator[Line]:
    """Yield the steps without what is on the page already."""
    for step in refusal.next if verbose else refusal.next[:1]:
        if refusal.topic is Topic.NODES and not refusal.right and "`" in shown and not verbose:
            continue  # the reason names its own command
        new = [command for command in step.commands if command not in shown]
        if new or not step.commands or refusal.right:
            text = _step_text(step)
            yield from _step_lines("" if step.text in shown else text, new, start, width, verbose)


def _step_text(step: NextStep) -> str:
    return f"{step.advice} ({step.where})" if step.where else step.advice


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
