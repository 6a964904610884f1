"""The fenced blocks of a Markdown page, and the comparison of a `console` block with what its commands print.

A `console` block has lines `$ command`, each followed by the expected output. A line `...` stands for any number of
lines, also none; `...` within a line stands for any text of that line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

PROMPT = "$ "
LEFT_OUT = "..."
_FENCE = re.compile(r"```(.*)")
_Alignment = tuple[float, tuple[tuple[int, int], ...]]
"""A score, and the pairs of indexes that have it."""
_CODE = re.compile(r"\b[A-Z]+-[A-Z]+-\d{3}\b")
_SAME_CODE = 0.9
_ALIKE = 0.5
"""Share of common text from which a line of the output counts as a new wording of an expected line."""


class Block(NamedTuple):
    """A fenced block of a page."""

    info: str
    """The text after the opening fence: the language, and for `console lab` where its commands run."""
    line: int
    """The number of the first line inside the block, from 1."""
    lines: tuple[str, ...]


class Step(NamedTuple):
    """A command of a `console` block, and the lines that it prints."""

    command: str
    line: int
    expected: tuple[str, ...]


def blocks(page: str) -> Iterator[Block]:
    """Yield the fenced blocks of a page. Raises ValueError where a block is not closed."""
    lines = iter(enumerate(page.splitlines(), 1))
    for number, line in lines:
        if fence := _FENCE.fullmatch(line):
            inside = []
            for _, text in lines:
                if text == "```":
                    break
                inside.append(text)
            else:
                raise ValueError(f"The block that starts in line {number} is not closed.")
            yield Block(fence[1], number + 1, tuple(inside))


def steps(block: Block) -> Iterator[Step]:
    """Yield the commands of a `console` block. Raises ValueError where it does not start with a command."""
    starts = [index for index, line in enumerate(block.lines) if line.startswith(PROMPT)]
    if not starts or starts[0]:
        raise ValueError(f"line {block.line}: a console block starts with `$ command`.")
    for start, end in zip(starts, [*starts[1:], len(block.lines)], strict=True):
        command = block.lines[start].removeprefix(PROMPT)
        yield Step(command, block.line + start, block.lines[start + 1 : end])


def matches(expected: Sequence[str], printed: Sequence[str]) -> bool:
    """Return whether the printed lines are those that are expected."""
    pattern = "".join(
        r"(?:.*\n)*?" if line == LEFT_OUT else r".*".join(map(re.escape, line.split(LEFT_OUT))) + r"\n"
        for line in expected
    )
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in printed)) is not None


def updated(expected: Sequence[str], printed: Sequence[str]) -> list[str]:
    """Return the expected lines in their new wording; they match what was printed.

    Each expected line is replaced by the printed line that resembles it most. What `...` left out stays left out, and
    lines between two others that stood together are added.
    """
    if matches(expected, printed):
        return list(expected)
    old = [line for line in expected if line != LEFT_OUT]
    pairs = _aligned(old, printed)
    gaps = _gaps(expected)
    found: list[str] = []
    end = taken = 0  # the first printed line, and the first old line, that are not dealt with
    for at_old, at_new in [*pairs, (len(old), len(printed))]:
        between = printed[end:at_new]
        if between and any(gaps[taken : at_old + 1]):
            found.append(LEFT_OUT)
        else:
            found += between
        if at_old < len(old):
            found.append(_masked(printed[at_new], old[at_old]))
        end, taken = at_new + 1, at_old + 1
    return found


def _gaps(expected: Sequence[str]) -> list[bool]:
    """Return for each expected line, and for the end, whether `...` stands before it."""
    found, left_out = [], False
    for line in expected:
        if line == LEFT_OUT:
            left_out = True
        else:
            found.append(left_out)
            left_out = False
    return [*found, left_out]


def _aligned(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return the pairs of indexes, rising in both, whose lines have most in common."""
    best: list[list[_Alignment]] = [[(0.0, ())] * (len(new) + 1)]
    for at_old, line in enumerate(old):
        row: list[_Alignment] = [(0.0, ())]
        for at_new, other in enumerate(new):
            options = [best[-1][at_new + 1], row[-1]]
            if (ratio := _likeness(line, other)) >= _ALIKE:
                score, pairs = best[-1][at_new]
                options.append((score + ratio, (*pairs, (at_old, at_new))))
            row.append(max(options, key=lambda option: option[0]))
        best.append(row)
    return list(best[-1][-1][1])


def _likeness(line: str, other: str) -> float:
    if line == other or (LEFT_OUT in line and matches([line], [other])):
        return 1.0
    codes = _CODE.findall(line)
    if codes and codes == _CODE.findall(other):
        return _SAME_CODE
    ours, theirs = (re.findall(r"[^\s.,:;]+", text.replace(LEFT_OUT, " ")) for text in (line, _masked(other, line)))
    return SequenceMatcher(None, ours, theirs, autojunk=False).ratio()


def _masked(line: str, old: str) -> str:
    """Return the line with `...` for its numbers that the old line does not have, where that left something out."""
    if LEFT_OUT not in old or matches([old], [line]):
        return old if LEFT_OUT in old else line
    known = set(re.findall(r"\S+", old))
    masked = re.sub(r"\S*\d\S*", lambda word: word[0] if word[0] in known else LEFT_OUT, line)
    return re.sub(r"\.\.\.(?: +\.\.\.)+", LEFT_OUT, masked)
