"""A sentence in less room: its last words give way, and its names stay."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import lru_cache

from tui.text.line import cell_len, cut, sanitize_line, wrapped

_SHORTEST = 24
"""The fewest characters of a shortened sentence, which ends at a comma, a semicolon or a colon."""
_MARKS = ",;:.()"
"""Punctuation next to a name."""


def shortened(sentence: str, most: int) -> str:
    """Return a sentence in at most that many columns: it ends before a comma, semicolon or colon, else between words
    with `…`, and not within parentheses."""
    text = " ".join(sentence.split())
    if cell_len(text) <= most:
        return text
    ends = [at for at in range(_SHORTEST, min(most, len(text) - 1)) if text[at] in ",;:" and text[at + 1] == " "]
    ends = [at for at in ends if cell_len(text[:at]) <= most]
    if ends:
        return text[: ends[-1]]
    kept = cut(text, most)
    if kept.count("(") > kept.count(")"):
        before = kept[: kept.rindex("(")].rstrip()
        return f"{before} …" if before else kept
    return kept


@lru_cache(maxsize=1024)
def abridged(text: str, width: int, names: tuple[str, ...] = (), *, most: int = 1) -> tuple[str, ...]:
    """Return a text from outside in at most `most` lines of that width. Where it is too long, its last words give way;
    those of `names` that would go with them are at the end instead."""
    sentence = sanitize_line(text)
    own = [name for name in dict.fromkeys(map(sanitize_line, names)) if name in _words(sentence)]
    for short in (sentence, *_shorter(sentence, most * width, own)):
        if cell_len(short) <= most * width and len(lines := wrapped(short, width)) <= most:
            return tuple(lines)
    *_, last = lines = wrapped(shortened(sentence, most * width), width)
    return (*lines[: most - 1], cut(last if len(lines) <= most else f"{lines[most - 1]} {lines[most]}", width))


def _shorter(sentence: str, most: int, names: Collection[str]) -> Iterator[str]:
    """Yield shorter forms of a sentence, each with all of these names, the longest first."""
    if not {*names} - _words(clause := shortened(sentence, most)):
        yield clause
    words = sentence.split()
    for number in range(len(words) - 1, 0, -1):
        left = _words(kept := " ".join(words[:number]))
        yield f"{kept} … {' '.join(name for name in names if name not in left)}".rstrip()


def _words(text: str) -> set[str]:
    return {word.strip(_MARKS) for word in text.split()}
