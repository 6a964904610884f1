"""The commands that racwire may start, as synopses: what is not here is refused, wherever it comes from.

A line is one form of one command, read by `read_forms`. Words stand for themselves, and

    [a|b]  (a|b)  x...    as in a manual: optional, one of these, one or more times
    -<abc>                one word of these one-letter options: -a, -cb
    NUMBER                digits, perhaps with a point
    FEW                   a whole number up to 100: how much is sent is bounded
    INTERVAL              seconds, 0.2 at the least: no flood
    WORD                  one word that is surely no option
    VALUE                 one word, also one that is not known before it runs, but quoted: "$uuid"
    NAME                  a shell variable in small letters
    FORMAT                one word that begins with +
    DIRECTORY             one absolute path
    FILE...               words that are surely no options; a pattern such as /etc/ifcfg-* counts as what it begins with
    SED                   a sed script that prints or substitutes, and neither writes a file nor runs anything
    ANY                   any words or none: only for commands in which no word can change or start anything
    COMMAND               the rest of the words, a command that is itself judged by this list

To add a command: read its manual for what writes, starts or sends something, also in options that may follow operands,
and write the forms that cannot. Where in doubt leave it out: a form that is too narrow is an error that is seen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

SYSTEM_DIRECTORIES = ("/bin", "/sbin", "/usr/bin", "/usr/sbin")
"""Where commands of SYSTEM may be called by path; by name they are found by the PATH of the held shells, the same."""

_PING = "[-n|-q|-4|-6|-s NUMBER|-M (do|dont|want|probe)|-i INTERVAL|-l FEW|-W NUMBER|-w NUMBER|-I WORD]..."
SYSTEM = f"""
env [(LC_ALL=C|LANG=C|NLS_LANG=AMERICAN_AMERICA)]... COMMAND
timeout [-s (INT|TERM|KILL)|-k NUMBER]... NUMBER COMMAND
(ping|ping6) {_PING} -c FEW {_PING} WORD
"""
"""What comes with Linux."""

GRID = """
crsctl check (crs|has|css|evm|ctss|cluster [-all])
crsctl query crs (activeversion [-f]|releaseversion|softwareversion [WORD|-all]|releasepatch|softwarepatch [WORD])
crsctl query has (releaseversion|softwareversion)
crsctl query css votedisk
crsctl get (css WORD|cluster (name|mode status|class|type)|nodename|hostname)
crsctl config (crs|has)
crsctl (stat|status) (res|resource|server|serverpool|type) [WORD|-t|-v|-p|-f|-init|-w WORD|-n WORD]...
oifcfg getif [-global|-node WORD|-if WORD|-type WORD]...
oifcfg iflist [-p|-n]...
olsnodes [-<nistlpca>]...
ocrconfig [-local] -showbackup [auto|manual]
srvctl (config|status) (asm|database|home|instance|listener|network|nodeapps|scan|scan_listener|service|vip|cvu)\
 [-a|-v|-verbose|-S NUMBER|(-d|-db|-database|-i|-instance|-n|-node|-s|-service|-l|-listener) VALUE]...
"""
"""What is in the `bin` of a Grid home. Called by an absolute path only: a database home may hold tools of that name."""

# --- synopses as patterns for words ----------------------------------------------------------------------------------

UNKNOWN = "\0"
"""Stands in a word for what only a shell will know: the value of a variable, what a command prints, file names."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a command, without its quotes. The words of a command that is started are known; those of a program
    may not be, where the tests judge it."""

    text: str
    """With UNKNOWN for each part that is not known."""
    many: bool = False
    """Whether it may become several words, or none. Where the text begins with known characters, each begins so."""
    plain: bool = False
    """Whether it was written without any quotes and is wholly known: such a word can be a keyword of the shell."""

    @property
    def is_known(self) -> bool:
        """Whether it is one word, and every character of it is known."""
        return not self.many and UNKNOWN not in self.text


Judge = Callable[[Sequence[Word]], bool]
"""Whether these words are a command that may run."""


@dataclass(frozen=True, slots=True)
class _One:
    """One word that fits."""

    fits: Callable[[Word], bool]


@dataclass(frozen=True, slots=True)
class _Sequence:
    parts: tuple[_Part, ...]


@dataclass(frozen=True, slots=True)
class _Choice:
    parts: tuple[_Part, ...]


@dataclass(frozen=True, slots=True)
class _Repeated:
    """Once or more often."""

    part: _Part


@dataclass(frozen=True, slots=True)
class _Rest:
    """All words that are left; `judged`: they must be a command that may run."""

    judged: bool


_Part = _One | _Sequence | _Choice | _Repeated | _Rest
_NOTHING = _Sequence(())


@dataclass(frozen=True, slots=True)
class Form:
    """One way in which a command may be called."""

    names: tuple[str, ...]
    _arguments: _Part

    def allows(self, arguments: Sequence[Word], judge: Judge) -> bool:
        """Whether these words after the name are covered; `judge` is asked for a command within the command."""
        return len(arguments) in _ends(self._arguments, arguments, frozenset({0}), judge)


def _ends(part: _Part, words: Sequence[Word], starts: frozenset[int], judge: Judge) -> frozenset[int]:
    """Where the part can end when it begins at one of the starts."""
    match part:
        case _One(fits):
            return frozenset(start + 1 for start in starts if start < len(words) and fits(words[start]))
        case _Sequence(parts):
            for each in parts:
                starts = _ends(each, words, starts, judge)
            return starts
        case _Choice(parts):
            return frozenset().union(*(_ends(each, words, starts, judge) for each in parts))
        case _Repeated(repeated):
            found, fresh = frozenset[int](), starts
            while fresh := _ends(repeated, words, fresh, judge) - found:
                found |= fresh
            return found
        case _Rest(judged):
            whole = bool(starts) and (not judged or any(judge(words[start:]) for start in starts))
            return frozenset({len(words)}) if whole else frozenset()


# --- words ------------------------------------------------------------------------------------------------------------

# Between two slashes: no slash, and brackets whole and without backslashes, since not every sed reads others alike.
_SED_TEXT = r"(?:[^/\\\[\n]|\\[^\n]|\[\^?\]?[^\]/\\\n]*\])*"
_SED_ADDRESS = rf"(?:\d+|\$|/{_SED_TEXT}/)"
_SED_COMMAND = rf"(?:{_SED_ADDRESS}(?:,{_SED_ADDRESS})?)?(?:[pdq]|s/{_SED_TEXT}/{_SED_TEXT}/g?p?)"


def _known(pattern: str, word: Word) -> bool:
    return word.is_known and re.fullmatch(pattern, word.text, re.ASCII) is not None


def _is_few(word: Word) -> bool:
    return _known(r"\d{1,3}", word) and int(word.text) <= 100


def _is_interval(word: Word) -> bool:
    return _known(r"\d{1,4}(\.\d+)?", word) and float(word.text) >= 0.2


def _is_no_option(word: Word) -> bool:
    return not word.text.startswith(("-", UNKNOWN))


_CLASSES: dict[str, Callable[[Word], bool]] = {
    "NUMBER": partial(_known, r"\d+(\.\d+)?"),
    "FEW": _is_few,
    "INTERVAL": _is_interval,
    "WORD": lambda word: _is_no_option(word) and not word.many,
    "VALUE": lambda word: not word.many,
    "NAME": partial(_known, r"(?!racwire_)[a-z][a-z0-9_]*"),
    "FORMAT": lambda word: word.text.startswith("+") and not word.many,
    "DIRECTORY": lambda word: word.text.startswith("/") and not word.many,
    "FILE": lambda word: _is_no_option(word) and word.text != "",
    "SED": partial(_known, rf"{_SED_COMMAND}(?:; *{_SED_COMMAND})*"),
}


def _fits(piece: str) -> Callable[[Word], bool]:
    if letters := re.fullmatch(r"-<(\w+)>", piece):
        return partial(_known, f"-[{letters[1]}]+")
    return _CLASSES.get(piece) or partial(_known, re.escape(piece))


# --- synopses ---------------------------------------------------------------------------------------------------------

_PIECE = re.compile(r"\.\.\.|[\[\]()|]|(?:(?!\.\.\.)[^\s\[\]()|])+")


def read_forms(synopses: str) -> Iterator[Form]:
    """The forms of a text with one synopsis a line; a line that ends with a backslash goes on in the next.

    Raises ValueError for a line that is no synopsis.
    """
    for line in synopses.replace("\\\n", "").splitlines():
        if not line.strip():
            continue
        pieces = list(reversed(_PIECE.findall(line)))
        first = pieces.pop()
        names = [first] if first != "(" else _names(pieces)
        arguments = _choice(pieces)
        if pieces:
            raise ValueError(f"{line!r} is no synopsis: {pieces[-1]!r} closes nothing.")
        yield Form(tuple(names), arguments)


def _names(pieces: list[str]) -> Iterable[str]:
    """`(ping|ping6)`: the names of one form."""
    names = []
    while (piece := pieces.pop()) != ")":
        if piece != "|":
            names.append(piece)
    return names


def _choice(pieces: list[str]) -> _Part:
    """What stands between two brackets, or on the whole line; the pieces are taken from the end of the list."""
    choices: list[_Part] = []
    parts: list[_Part] = []
    while pieces and pieces[-1] not in ("]", ")"):
        piece = pieces.pop()
        if piece == "|":
            choices.append(_Sequence(tuple(parts)))
            parts = []
        elif piece == "...":
            parts[-1] = _often(parts[-1])
        else:
            parts.append(_part(piece, pieces))
    return _Choice((*choices, _Sequence(tuple(parts)))) if choices else _Sequence(tuple(parts))


def _part(piece: str, pieces: list[str]) -> _Part:
    if piece in ("[", "("):
        inner = _choice(pieces)
        if not pieces or pieces.pop() != {"[": "]", "(": ")"}[piece]:
            raise ValueError(f"A synopsis does not close its {piece!r}.")
        return _Choice((_NOTHING, inner)) if piece == "[" else inner
    if piece in ("ANY", "COMMAND"):
        return _Rest(judged=piece == "COMMAND")
    return _One(_fits(piece))


def _often(part: _Part) -> _Part:
    match part:
        case _Choice((first, inner)) if first == _NOTHING:
            return _Choice((_NOTHING, _Repeated(inner)))
        case _:
            return _Repeated(part)
