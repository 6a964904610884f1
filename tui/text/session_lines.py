"""A session of guided troubleshooting as lines: what was left, each step with what it excluded, and how it ended."""

from __future__ import annotations

from collections.abc import Iterator

from checks.model.wording import counted
from checks.report.how_found import READ, TITLE, HowFound
from tui.text.finding_lines import status_word
from tui.text.line import Line, folded, hanging
from tui.text.sanitize import sanitize_lines

_NUMBER = 4


def how_found_lines(found: HowFound, width: int, *, with_outputs: bool = False) -> Iterator[Line]:
    """Yield how the cause was found; `with_outputs`: with what people pasted."""
    yield [(TITLE, "title")]
    yield from hanging([], found.about, width)
    if found.suspects:
        yield [("Left at first", "label")]
        for suspects in found.suspects:
            yield from hanging([("    ", "")], suspects, width)
    for step in found.steps:
        start: Line = [(f"{step.number:>2}. ", "label")]
        yield from hanging(start, f"{step.at}  {step.title} ({step.price})", width)
        margin: Line = [(" " * _NUMBER, "")]
        yield from hanging(margin, step.outcome, width)
        if step.excluded:
            yield from hanging(margin, f"Excludes {step.excluded}.", width, "accent")
        if with_outputs:
            for command in step.commands:
                yield [*margin, (sanitize_lines(command), "command")]
            for output in step.pasted:
                yield from folded(output, _NUMBER + 2, width)
        elif step.pasted:
            yield [*margin, (f"{counted(len(step.pasted), 'pasted output')} in the JSON and HTML reports", "faint")]
    for end in found.ends:
        yield from hanging([("End ", "label")], end.text, width, "title")
        yield from hanging([(" " * _NUMBER, "")], end.then, width)
    if found.state:
        yield from hanging([("    ", "")], found.state, width, "warn")
    if found.read:
        yield from ([], [(READ, "title")])
    for finding in found.read:
        yield from hanging([status_word(finding.status)], finding.title, width)
        for line in finding.seen:
            yield from hanging([(" " * 8, "")], line, width, "faint")
