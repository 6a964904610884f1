"""Values that mean something to a shell, a terminal, a page or a document; and whether an output has them as data.

Each has the canary in it: as a program where a shell would run it, as a word where one would be split off.
"""

from __future__ import annotations

import random
import re
import shlex
from collections.abc import Callable

CANARY = "xyzzy"
SHELL = (
    f"x;{CANARY};", f"$({CANARY})", f"`{CANARY}`", f"'{CANARY}\"", f"\"$({CANARY})'", f"a {CANARY} -rf", f"-rf{CANARY}",
    f"--{CANARY}=x", f"|{CANARY}|", f"&&{CANARY}&", f">{CANARY}", f"<{CANARY}", f"#{CANARY}", f"~{CANARY}",
    f"!{CANARY}!", f"{{a,{CANARY}}}", f"*{CANARY}?[a-z]", f"\\{CANARY}\\", f"$HOME${CANARY}", f"%s%n{CANARY}\\0",
    f"={CANARY}", f"::ff{CANARY}", f"') {CANARY} ('", f"/../../{CANARY}",
)  # fmt: skip
"""Any of them can be a word of a command."""
MARKUP = (
    f"<script>{CANARY}()</script>", f"\"><img src=x onerror={CANARY}()>", f"[{CANARY}](javascript:{CANARY})",
    f"[bold]{CANARY}[/bold][@click=app.quit]", f"{{{{{CANARY}}}}}", f"| {CANARY} |", f"]]>{CANARY}",
    f"&lt;{CANARY}&#60;", f"**{CANARY}** <https://{CANARY}.example>", CANARY * 2_000,
)  # fmt: skip
NEVER_TYPED = (
    f"x\n{CANARY}", f"x\r{CANARY}", f"x\x1b[2J{CANARY}", f"\x1b]0;{CANARY}\x07", f"\x9b31m{CANARY}", f"x\u202e{CANARY}",
    f"x\u2028{CANARY}", f"x\0{CANARY}", f"\udcff{CANARY}", f"\x7f\x08{CANARY}", f"x\x85{CANARY}\x0b",
)  # fmt: skip
"""None of them reaches a command."""
VALUES = (*SHELL, *MARKUP, *NEVER_TYPED, "", "x" * 5_000)
OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]"
)
_WHOLE = sorted({re.sub(r"\\", "", value).lower() for value in (*SHELL, *MARKUP)}, key=len)


def changing(seed: object) -> Callable[[str], str]:
    """Return a change of texts to hostile values: equal texts stay equal; every other text keeps its beginning."""
    chance = random.Random(str(seed))
    values = chance.sample(VALUES, len(VALUES))
    made: dict[str, str] = {}

    def change(text: str) -> str:
        if text not in made:
            value = values[len(made) % len(values)]
            made[text] = value if len(made) % 2 else f"{text}{value}"
        return made[text]

    return change


def is_whole(word: str) -> bool:
    """Whether a word has a value with the canary whole, or not at all; a regular expression has backslashes in it."""
    plain = word.replace("\\", "").lower()
    left = plain
    for value in reversed(_WHOLE):
        left = left.replace(value, "")
    return CANARY not in left


def shell_faults(line: str) -> str:
    """Return why a printed line for a shell has a value as syntax; empty where it has not."""
    if OBEYED.search(line):
        return "a control character"
    inside = line.replace('[ "$(srvctl', "( srvctl").replace(')" -ge', " ) -ge")  # the words of the command inside, too
    lexer = shlex.shlex(inside, posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        words = list(lexer)
    except ValueError as error:
        return str(error)
    return next((f"{word[:80]!r} is a part of a value" for word in words if not is_whole(word)), "")


def other_faults(line: str) -> str:
    """Return why a printed line for a database or a switch has a value as syntax; empty where it has not."""
    found = re.findall(rf"\S*{CANARY}\S*", line, re.IGNORECASE)
    return next((word for word in found if not re.fullmatch(r"[\w$#./:,+@-]+;?", word)), "")
