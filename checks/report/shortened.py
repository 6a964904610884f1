"""A sentence in less room."""

from __future__ import annotations

_SHORTEST = 24
"""The fewest characters of a shortened sentence, which ends at a comma, a semicolon or a colon."""


def shortened(sentence: str, most: int) -> str:
    """Return a sentence in at most that many characters: it ends before a comma, semicolon or colon, else between
    words with `…`, and not within parentheses."""
    text = " ".join(sentence.split())
    if len(text) <= most:
        return text
    ends = [at for at in range(_SHORTEST, most) if text[at] in ",;:" and text[at + 1] == " "]
    if ends:
        return text[: ends[-1]]
    kept = text[: most - 1].rpartition(" ")[0] or text[: most - 2]
    if kept.count("(") > kept.count(")"):
        kept = kept[: kept.rindex("(")].rstrip() or kept
    return f"{kept} …"
