"""The `sh` programs of racwire, parsed into the simple commands that could run. No I/O.

The parser accepts only a small part of the shell's language: the part that every `sh` reads alike (dash, bash, BusyBox)
and that shows which commands will run. It refuses everything else: functions, here-documents, backquotes, arithmetic,
aliases, comments, braces and tildes in words, expansions that assign or evaluate. Where the grammar below is laxer than
the shell's, the shell reports an error although the commands were judged; every command that can run has been judged.
"""

from __future__ import annotations

import re

from checks.sources.nodes.read_only.allow_list import UNKNOWN, Word
from tests.support.shell_judge.words import NotReadOnlyError, Redirection, SimpleCommand

_DEPTH = 20
"""Maximum depth of nested commands; the programs of racwire reach 4."""
_END = r"(?=[ \t\n;&|<>()]|\Z)"
_NOT_TEXT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_KEYWORD = re.compile(rf"(?:if|then|elif|else|fi|for|in|do|done|while|until|case|esac|[!{{}}]){_END}")
_BRACKET = re.compile(rf"\[{_END}")
_ASSIGNED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=")
_REDIRECTS = re.compile(r"[0-9]?(>>|[<>]&|[<>])(?![<>&|(])")
_LOOKS_REDIRECTED = re.compile(r"[0-9]*[<>]")
_BARE = re.compile(r"[A-Za-z0-9_.,:/@%+=^!\]\-]+")
"""What means itself outside of quotes."""
_EXPANDED = re.compile(
    # $name, $1 and $?; ${name}, ${#name}, ${name#text} and the like, ${name:-text} and ${name:+text}.
    # bash runs commands that stand in the value of a variable where it evaluates it: ${!x}, ${x:y}, ${x@P}, $((x)).
    r"\$(?:[A-Za-z_][A-Za-z0-9_]*|[1-9]|\?"
    r"|\{(?:#?[A-Za-z_][A-Za-z0-9_]*|[A-Za-z_][A-Za-z0-9_]*(?:##?|%%?|:?[-+])[A-Za-z0-9_.,:/*?@%+=^!\[\] \-]*)\})"
)


def simple_commands(program: str) -> tuple[SimpleCommand, ...]:
    """Every simple command that a program of plain `sh` could run, those in `$(…)` too.

    Raises NotReadOnlyError where it is not wholly understood.
    """
    if _NOT_TEXT.search(program):
        raise NotReadOnlyError("it has control characters")
    try:
        program.encode()
    except UnicodeEncodeError:
        raise NotReadOnlyError("it has characters that are none") from None
    reader = _Reader(program)
    reader.commands_until()
    if reader.at < len(program):
        raise reader.refused("a bracket that closes nothing")
    return tuple(reader.found)


class _Reader:
    """Reads on through the text; `found` grows by each simple command."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.found: list[SimpleCommand] = []
        self._depth = 0

    def refused(self, what: str) -> NotReadOnlyError:
        """An error that names the place."""
        near = self.text[max(0, self.at - 10) : self.at + 20].replace("\n", " ")
        return NotReadOnlyError(f"{what} at `{near}`")

    # --- lists and compound commands ----------------------------------------------------------------------------------

    def commands_until(self, *keywords: str) -> str:
        """Read commands up to one of the keywords, which is read too, or to `)`, `;;` or the end of the text."""
        self._depth += 1
        if self._depth > _DEPTH:
            raise self.refused("commands too deep in each other")
        while True:
            while self._here() in (" ", "\t", "\n", ";", "&", "|") and not self._is_next(";;"):
                self.at += 1
            if self._here() in ("", ")", ";"):
                break
            if (keyword := self._keyword()) in keywords:
                self.at += len(keyword)
                self._depth -= 1
                return keyword
            self._command(keyword)
        self._depth -= 1
        if keywords and "esac" not in keywords:
            raise self.refused(f"no `{keywords[0]}`")
        return ""

    def _command(self, keyword: str) -> None:
        """Read one command that starts with this keyword, or without a keyword."""
        if not keyword and self._here() != "(":
            self._simple()
            return
        self.at += len(keyword)
        match keyword:
            case "!":
                return  # a command follows
            case "":
                self._in_brackets()
            case "{":
                self.commands_until("}")
            case "while" | "until":
                self.commands_until("do")
                self.commands_until("done")
            case "if":
                while self.commands_until("then", "fi") == "then" and self.commands_until("elif", "else", "fi") != "fi":
                    pass
            case "for":
                self._for()
            case "case":
                self._case()
            case _:
                raise self.refused(f"`{keyword}` where none belongs")
        self.found.append(SimpleCommand(redirections=self._redirections()))

    def _in_brackets(self) -> None:
        self.at += 1
        # bash takes (( for arithmetic.
        if self._here() == "(":
            raise self.refused("two brackets")
        self.commands_until()
        if self._here() != ")":
            raise self.refused("a bracket that is not closed")
        self.at += 1

    def _for(self) -> None:
        self._skip(" \t")
        name = self._word()
        self._skip(" \t\n")
        if not name.plain or self._keyword() != "in":
            raise self.refused("a `for` without words")
        self.at += len("in")
        self._skip(" \t")
        # It is set as if it were assigned, so it is judged as that.
        self.found.append(SimpleCommand(assignments=((name.text, Word(UNKNOWN)),)))
        while self._here() not in ("", "\n", ";"):
            self._word()
            self._skip(" \t")
        self._skip(" \t\n;")
        if self._keyword() != "do":
            raise self.refused("no `do`")
        self.at += len("do")
        self.commands_until("done")

    def _case(self) -> None:
        self._skip(" \t")
        self._word()
        self._skip(" \t\n")
        if self._keyword() != "in":
            raise self.refused("a `case` without `in`")
        self.at += len("in")
        while True:
            self._skip(" \t\n")
            if self._keyword() == "esac":
                self.at += len("esac")
                return
            while self._here() != ")":
                self._word()
                self._skip(" \t")
                if self._here() == "|":
                    self.at += 1
                    self._skip(" \t")
            self.at += 1
            if self.commands_until("esac"):
                return
            if not self._is_next(";;"):
                raise self.refused("a `case` that does not end")
            self.at += len(";;")

    # --- simple commands ----------------------------------------------------------------------------------------------

    def _simple(self) -> None:
        words: list[Word] = []
        assignments: list[tuple[str, Word]] = []
        redirections: list[Redirection] = []
        while True:
            redirections += self._redirections()
            if self._here() in ("", "\n", ";", "&", "|", ")"):
                break
            assigned = _ASSIGNED.match(self.text, self.at)
            if assigned and not words:
                self.at = assigned.end()
                assignments.append((assigned[1], self._word(may_be_empty=True)))
            else:
                words.append(self._word())
        self.found.append(SimpleCommand(tuple(words), tuple(assignments), tuple(redirections)))

    def _redirections(self) -> tuple[Redirection, ...]:
        """The redirections at this position, and the blanks around them."""
        found: list[Redirection] = []
        self._skip(" \t")
        while _LOOKS_REDIRECTED.match(self.text, self.at):
            redirects = _REDIRECTS.match(self.text, self.at)
            if redirects is None:
                raise self.refused("a here-document or another redirection that is not known")
            self.at = redirects.end()
            self._skip(" \t")
            found.append(Redirection(redirects[1], self._word()))
            self._skip(" \t")
        return tuple(found)

    # --- words --------------------------------------------------------------------------------------------------------

    def _word(self, *, may_be_empty: bool = False) -> Word:
        start = self.at
        if self._here() == "#":
            raise self.refused("a comment")
        if bracket := _BRACKET.match(self.text, start):
            self.at = bracket.end()
            return Word("[")
        text, many, plain = "", False, True
        while self._here() not in ("", " ", "\t", "\n", ";", "&", "|", "<", ">", "(", ")"):
            here = self._here()
            if bare := _BARE.match(self.text, self.at):
                text += bare[0]
                self.at = bare.end()
                continue
            plain = False
            if here in "*?[":
                text, many = text + UNKNOWN, True
                self.at += 1
            elif here == "$":
                piece = self._expansion()
                # The result may be split into words with any first character.
                text, many = (text + piece, many) if piece != UNKNOWN else (UNKNOWN, True)
            elif here == "'":
                end = self.text.find("'", self.at + 1)
                if end < 0:
                    raise self.refused("a quote that is not closed")
                text += self.text[self.at + 1 : end]
                self.at = end + 1
            elif self._is_next('"$@"'):
                text, many = text + UNKNOWN, True
                self.at += len('"$@"')
            elif here == '"':
                text += self._in_double_quotes()
            elif here == "#":
                text += here
                self.at += 1
            elif here == "\\" and self.text[self.at + 1 : self.at + 2] not in ("", "\n"):
                text += self.text[self.at + 1]
                self.at += 2
            else:
                raise self.refused(f"{here!r} outside of quotes")
        if self.at == start and not may_be_empty:
            raise self.refused(f"{self._here() or 'the end'!r} where a word belongs")
        if self._here() == "(":
            raise self.refused("a function or an array")
        return Word(text, many, plain)

    def _in_double_quotes(self) -> str:
        text = ""
        self.at += 1
        while (here := self._here()) != '"':
            following = self.text[self.at + 1 : self.at + 2]
            if here in ("", "`") or (here == "\\" and following in ("", "\n")):
                raise self.refused("a quote that is not closed, or a backquote or broken line in it")
            if here == "$" and following not in ('"', " ", "|", ")", "/"):
                text += self._expansion()
            elif here == "\\" and following in '$`"\\':
                text += following
                self.at += 2
            else:
                text += here
                self.at += 1
        self.at += 1
        return text

    def _expansion(self) -> str:
        """The value of a `$`: UNKNOWN, or itself at the end of a word."""
        if self._is_next("$(") and not self._is_next("$(("):
            self.at += 1
            self._in_brackets()
            return UNKNOWN
        if expanded := _EXPANDED.match(self.text, self.at):
            self.at = expanded.end()
            return UNKNOWN
        self.at += 1
        if self._here() in ("", " ", "\t", "\n"):
            return "$"
        raise self.refused("an expansion that is not known")

    # --- the text -----------------------------------------------------------------------------------------------------

    def _here(self) -> str:
        return self.text[self.at : self.at + 1]

    def _is_next(self, text: str) -> bool:
        return self.text.startswith(text, self.at)

    def _skip(self, characters: str) -> None:
        while self._here() and self._here() in characters:
            self.at += 1

    def _keyword(self) -> str:
        found = _KEYWORD.match(self.text, self.at)
        return found[0] if found else ""
