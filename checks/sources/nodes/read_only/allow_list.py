"""The commands that racwire may start, as synopses. All other commands are refused.

A line is one form of one command, read by `read_forms`. A word matches itself, and

    [a|b]  (a|b)  x...    as in a manual: optional, one of these, one or more times
    -<abc>                one word of these one-letter options: -a, -cb
    NUMBER                digits, optionally with a decimal point
    FEW                   a whole number up to 100, which limits the packets sent
    INTERVAL              seconds, at least 0.2: no flood
    WORD                  one word that is no option
    VALUE                 one quoted word, which may be known only when it runs: "$uuid"
    NAME                  a shell variable in small letters
    LISTENER              the name of a listener: no address, so lsnrctl contacts the listeners of this node only
    FORMAT                one word that starts with +
    DIRECTORY             one absolute path
    FILE...               words that are no options; a pattern such as /etc/ifcfg-* counts as its fixed first part
    SENDER                racwire's own sender of datagrams, whose text is `udp_sender.py`, unchanged
    DATAGRAMS             a word of its plan: a time, or the addresses, the port and the datagrams of a path
    SED                   a sed script that prints or substitutes, and neither writes a file nor runs a command
    ANY                   any number of words: only for commands in which no word can change or start something
    COMMAND               the rest of the words, a command that this list must allow

To add a command: find in its manual all that writes, starts or sends something, also options that may follow operands,
and write only forms that cannot do so. In doubt leave a form out: a form that is too narrow causes a visible error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import getsource

from checks.sources.probes import udp_sender

SYSTEM_DIRECTORIES = ("/bin", "/sbin", "/usr/bin", "/usr/sbin")
"""The directories from which commands of SYSTEM may be called by path; the PATH of the open shells has the same."""

_PING = "[-n|-q|-4|-6|-s NUMBER|-M (do|dont|want|probe)|-i INTERVAL|-l FEW|-W NUMBER|-w NUMBER|-I WORD]..."
SYSTEM = f"""
env [(LC_ALL=C|LANG=C|NLS_LANG=AMERICAN_AMERICA)]... COMMAND
sudo -n [-u VALUE] COMMAND
nice COMMAND
tar --force-local -tzf VALUE
timeout [-s (INT|TERM|KILL)|-k NUMBER]... NUMBER COMMAND
(ping|ping6) {_PING} -c FEW {_PING} WORD
(python3|python2|python|/usr/libexec/platform-python) -E -s -S -c SENDER DATAGRAMS...
"""
"""The commands of Linux."""

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
lsnrctl status LISTENER
srvctl (config|status) (asm|database|home|instance|listener|network|nodeapps|scan|scan_listener|service|vip|cvu)\
 [-a|-v|-verbose|-asmlistener|-S NUMBER|(-d|-db|-database|-i|-instance|-n|-node|-s|-service|-l|-listener) VALUE]...
"""
"""The commands in the `bin` of a Grid home, called only by absolute path: a database home may have the same names."""

# --- synopses as patterns for words ----------------------------------------------------------------------------------

UNKNOWN = "\0"
"""Marks a part of a word that only the shell knows: the value of a variable, the output of a command, file names."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a command, without its quotes. The words of a command that is started are known; those of a program
    may not be, where the tests judge it."""

    text: str
    """With UNKNOWN for each part that is not known."""
    many: bool = False
    """Whether it may expand to several words or none. Each of them starts with the known first characters."""
    plain: bool = False
    """Whether it has no quotes and is wholly known: such a word can be a keyword of the shell."""

    @property
    def is_known(self) -> bool:
        """Whether it is one word whose characters are all known."""
        return not self.many and UNKNOWN not in self.text


SENDER_TEXT = getsource(udp_sender)
"""The one program that a node's Python may run."""

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
        """Whether the form allows these arguments; `judge` decides about a command within the command."""
        return len(arguments) in _ends(self._arguments, arguments, frozenset({0}), judge)


def _ends(part: _Part, words: Sequence[Word], starts: frozenset[int], judge: Judge) -> frozenset[int]:
    """The positions at which the part can end when it starts at one of `starts`."""
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


_DATAGRAMS = r"[0-9A-Fa-f.:]{2,45},[0-9A-Fa-f.:]{2,45},\d{4,5},[\d:]+(?:/[\d:]+)*(?:,\d+:\d+:\d*)?"
"""The datagrams of a path: a word of the sender."""
_CLASSES: dict[str, Callable[[Word], bool]] = {
    "NUMBER": partial(_known, r"\d+(\.\d+)?"),
    "FEW": _is_few,
    "INTERVAL": _is_interval,
    "WORD": lambda word: _is_no_option(word) and not word.many,
    "VALUE": lambda word: not word.many,
    "NAME": partial(_known, r"(?!racwire_)[a-z][a-z0-9_]*"),
    "LISTENER": partial(_known, r"[A-Za-z]\w{0,63}"),
    "FORMAT": lambda word: word.text.startswith("+") and not word.many,
    "DIRECTORY": lambda word: word.text.startswith("/") and not word.many,
    "SENDER": lambda word: word.is_known and word.text == SENDER_TEXT,
    "DATAGRAMS": partial(_known, rf"\d{{1,5}}(?::\d{{1,6}})*|{_DATAGRAMS}|=\d+;[\d:]+(?:\|{_DATAGRAMS})*;[\w.:?|-]*"),
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
    """Yield the forms of a text with one synopsis a line; a line that ends with a backslash continues on the next.

    Raises ValueError where a line is no synopsis.
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
    """Parse the pieces up to a closing bracket or the end; the pieces are taken from the end of the list."""
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
