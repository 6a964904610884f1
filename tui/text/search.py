"""Searching in lines: where the words are, also over the end of a line, and the lines with these places marked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from tui.text.line import Line, Span


class Part(NamedTuple):
    """A part of a match within one line: characters from `start` to before `end`."""

    line: int
    start: int
    end: int


Match = Sequence[Part]
"""The parts of a match, one for each line that it touches; never empty."""


def matches_in(lines: Sequence[Line], query: str) -> list[Match]:
    """Return the places of a text in lines, in either case. Spaces of the query also match the end of a line with the
    margin of the next one, since a paragraph is one text to its reader."""
    words = query.split()
    if not words:
        return []
    texts = ["".join(text for text, _ in line) for line in lines]
    starts = [0]
    for text in texts:
        starts.append(starts[-1] + len(text) + 1)
    found: list[Match] = []
    number = 0
    for hit in re.finditer(r"\s+".join(map(re.escape, words)), "\n".join(texts), re.IGNORECASE):
        while starts[number + 1] <= hit.start():
            number += 1
        parts = []
        for line in range(number, len(texts)):
            if starts[line] >= hit.end():
                break
            margin = len(texts[line]) - len(texts[line].lstrip()) if line > number else 0
            start, end = max(hit.start() - starts[line], margin), min(hit.end() - starts[line], len(texts[line]))
            if start < end:
                parts.append(Part(line, start, end))
        found.append(parts)
    return found


def with_matches(lines: Sequence[Line], matches: Sequence[Match], current: int) -> list[Line]:
    """Return the lines with the matches in the role `match`, and the current one in the role `found`."""
    parts: dict[int, list[tuple[Part, str]]] = {}
    for number, match in enumerate(matches):
        for part in match:
            parts.setdefault(part.line, []).append((part, "found" if number == current else "match"))
    return [_marked(line, parts[number]) if number in parts else line for number, line in enumerate(lines)]


def _marked(line: Line, parts: Sequence[tuple[Part, str]]) -> Line:
    spans: list[Span] = []
    at = 0
    for text, role in line:
        done = 0
        for part, mark in parts:
            start, end = max(part.start - at, done), min(part.end - at, len(text))
            if start < end:
                spans += [(text[done:start], role), (text[start:end], mark)]
                done = end
        spans.append((text[done:], role))
        at += len(text)
    return [span for span in spans if span[0]]
