"""The pages of `racwire explain` about causes: the catalogue, a cause, and what became of causes in a report."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping

from checks.diagnosis.catalogue import CATALOGUE
from checks.diagnosis.cause import Cause
from checks.diagnosis.cause_words import how_losses_show_it, what_contradicts_it, what_it_does
from checks.diagnosis.sign_words import signs_by_kind
from checks.model.check import Kind
from checks.model.finding import Key
from checks.model.hypothesis import Certainty, Hypothesis
from checks.model.report import Report
from checks.model.wording import listed
from checks.report.causes import ends_with


def causes() -> Iterator[str]:
    """Yield the list of the catalogue."""
    yield from textwrap.wrap(
        "Each report has the standing of every cause: proved, supported, possible, excluded, or not examined.", 78
    )
    yield ""
    for cause in CATALOGUE:
        examined = " " if cause.is_examined else "-"
        yield f"{cause.code} {examined} {cause.name}{f' ({source})' if (source := ', '.join(cause.sources)) else ''}"
    yield ""
    yield "-  racwire has no evidence for or against it: `racwire explain CAUSE` has how to examine it."


def causes_in(report: Report) -> Iterator[str]:
    """What became of each cause, the most certain first, with the reasons."""
    total = len({fate.cause for fate in report.diagnosis.hypotheses})
    for standing in Certainty:
        of = report.diagnosis.with_standing(standing)
        if not of:
            continue
        yield f"{standing.value.capitalize()}: {len({fate.cause for fate in of})} of {total} causes"
        for fate in of:
            yield f"  {fate.cause}  {fate.name}{f' ({source})' if (source := ', '.join(fate.sources)) else ''}"
            yield from _reasons(fate, report, "      ")
        yield ""
    yield "How to examine a cause: racwire explain CAUSE"


def fate_page(cause: Cause, report: Report) -> Iterator[str]:
    """Yield what became of one cause in a report, at each of its places."""
    for fate in report.diagnosis.hypotheses:
        if fate.cause == cause.code:
            yield ""
            yield f"In this report: {fate.standing}"
            yield from _reasons(fate, report, "  ")


def _reasons(fate: Hypothesis, report: Report, margin: str) -> Iterator[str]:
    """What is known about a cause at its place, a paragraph each."""

    def titles(keys: Iterable[Key]) -> Iterator[str]:
        return (finding.title for finding in report.findings_of(keys))

    parts: tuple[tuple[str, Iterable[str]], ...] = (
        ("", (fate.headline,)),
        ("It costs nothing now.", ("",) if fate.costs_nothing else ()),
        ("Touches: ", (effect.text for effect in fate.footprint)),
        ("Because: ", fate.because),
        ("Shown by: ", (title for title in titles(fate.shown_by) if title not in (fate.headline, *fate.because))),
        ("Against: ", fate.against),
        ("Explains: ", titles(fate.explains)),
        ("Explains in part: ", titles(fate.in_part)),
        *((f"{ends_with(one.causes)}: ", titles((one.finding,))) for one in fate.together),
        ("To tell it from the others: ", (fate.tells_apart,)),
        ("Not examined behind it: ", (listed(fate.hides),)),
        ("Excluded on: ", (listed(fate.excluded_on),)),
    )
    for label, texts in parts:
        for text in texts:
            if text or label.endswith("."):
                yield from textwrap.wrap(f"{label}{text}", 78, initial_indent=margin, subsequent_indent=f"{margin}  ")


def cause_page(cause: Cause, kinds: Mapping[str, tuple[Kind, str]]) -> Iterator[str]:
    """Yield the page of a cause; `kinds` has the kind of each code, with its check."""
    yield from _sentences("", (f"{cause.code}: {cause.name}",))
    if cause.sources:
        yield from _sentences("", (f"Source: {', '.join(cause.sources)}",))
    for label, sentences in (
        ("What it does to packets:", what_it_does(cause)),
        ("Losses that show it, where nothing else does:", how_losses_show_it(cause)),
        ("What contradicts it:", what_contradicts_it(cause)),
    ):
        if sentences:
            yield ""
            yield label
            yield from _sentences("  ", sentences)
    rules = {
        "Proved by": cause.proved_by,
        "Supported by": cause.supported_by,
        "Possible with": cause.hinted_by,
        "Excluded by": cause.excluded_by,
    }
    for label, codes in rules.items():
        if codes:
            yield ""
            yield f"{label}:"
            for code in codes:
                margin = f"  {code}  "
                yield from textwrap.wrap(
                    kinds[code][0].title, 78, initial_indent=margin, subsequent_indent=" " * len(margin)
                )
    if cause.cleared_by:
        yield ""
        verb = "shows" if len(cause.cleared_by) == 1 else "show"
        yield f"Excluded where {listed(cause.cleared_by)} {verb} none of these."
    if cause.covers:
        yield from _sentences("  ", (f"The exclusion holds {cause.covers}.",))
    if signs := list(signs_by_kind(cause)):
        yield ""
        yield "Where other causes lose the same packets, look for:"
        yield from _sentences("  ", (f"{f'{name}: ' if name else ''}{listed(words, 'or')}" for name, words in signs))
    if cause.other_platform:
        yield f"It is a cause on {cause.other_platform} only."
    for step in cause.look:
        yield ""
        yield from textwrap.wrap(f"To examine it: {step.advice}", 78)
        yield from (f"  {command}" for command in step.commands)
        if step.where:
            yield f"  ({step.where})"


def _sentences(margin: str, sentences: Iterable[str]) -> Iterator[str]:
    for sentence in sentences:
        yield from textwrap.wrap(sentence, 78, initial_indent=margin, subsequent_indent=margin)
