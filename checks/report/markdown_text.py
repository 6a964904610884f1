"""Text of unknown origin as Markdown that renders as that very text: CommonMark, and the tables of GitHub and GitLab.

What Markdown would obey is escaped by a backslash. A word that a tracker would make a link or a mention of (`@name`,
`#123`, `https://...`, an address of mail) is written as code, in which none of them looks for any: a backslash does not
keep them from it, and an invisible character would be copied along with the name. What links to no more than the
tracker's own pages and tells nobody (keys such as ABC-1, hashes of commits) is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from checks.model.finding import Table
from checks.model.sanitize import shown

_CODE_WORD = re.compile(
    r"@|://|^\W*www\.|\b(?:mailto|xmpp):|(?<!\w)[#!&~$%]\d|\w#\d|(?<!\w)GH-\d", re.IGNORECASE | re.ASCII
)
_OBEYED = re.compile(
    r"[\\`*\[\]~$]"
    r"|<(?=[A-Za-z/!?])"
    r"|(?<![^\W_])_|_(?![^\W_])"  # within a word an underscore is a letter
    r"|&(?=#|\w)"
    r"|(?<!\S)#"  # a heading, or the end of one
)
_BEGINS_A_BLOCK = re.compile(r"[-+=>]|\d{1,9}(?=[.)](?:\s|$))")


def inline(text: str, most: int | None = None, *, in_cell: bool = False) -> str:
    """The text on one line, for wherever a text can stand; of a longer one than `most`, its beginning, and that it is.

    `in_cell`: within a cell of a table, which a pipe would end.
    """
    plain = shown(re.sub(r"[ \t\n]+", " ", text)).strip(" ")
    if most is not None and len(plain) > most:
        plain = f"{plain[:most].rstrip()}… ({len(plain) - most:,} characters more)"
    written = " ".join(
        _code(word) if _CODE_WORD.search(word) else _OBEYED.sub(r"\\\g<0>", word) for word in plain.split(" ")
    )
    if in_cell:
        written = written.replace("|", r"\|")  # in code, too
    begin = _BEGINS_A_BLOCK.match(written)
    if begin is None:
        return written
    at = begin.end() if begin[0].isdigit() else 0
    return f"{written[:at]}\\{written[at:]}"


def fence(text: str, indent: int = 0) -> Iterator[str]:
    """The lines of a block of code, as they are, between two rows of backticks that none of them can end."""
    lines = shown(text, keep_lines=True).split("\n")
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    row = "`" * max(3, longest + 1)
    yield from (f"{' ' * indent}{line}".rstrip() for line in (row, *lines, row))


def table(of: Table, most: int) -> Iterator[str]:
    """The lines of a table, each cell of at most that many characters; nothing where it has no columns."""
    width = max(map(len, (of.columns, *of.rows)))
    if not width:
        return
    yield _row(of.columns, width, most)
    yield f"|{' --- |' * width}"
    yield from (_row(row, width, most) for row in of.rows)


def _row(cells: Sequence[str], width: int, most: int) -> str:
    padded = (*cells, *("",) * (width - len(cells)))
    return f"| {' | '.join(inline(cell, most, in_cell=True) for cell in padded)} |"


def _code(word: str) -> str:
    row = "`" * (1 + max((len(run) for run in re.findall(r"`+", word)), default=0))
    space = " " if word.startswith("`") or word.endswith("`") else ""
    return f"{row}{space}{word}{space}{row}"
