"""The texts for people in a Python file or a template, read from the source without running it.

A text is a string, an f-string, or a sum of them, that has words in it (`is_text`). Left out are docstrings, keys,
what is compared, and the arguments of the calls and the keywords that are listed here.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from checks.model.check import Kind

_REASONS = frozenset({"Unknown", "NotGathered", "NotAsked", "UnreadNode"})
"""Classes of facts whose text says why something is not known."""
_NOT_FOR_PEOPLE = re.compile(
    r"compile|match|fullmatch|search|find|finditer|findall|sub|r?split|\w+swith|remove\w+|r?partition|replace|strip|str[fp]time|pack|"
    r"unpack|import_module|getattr|get|query\w*|index|count|encode|exception|debug|warning|\w+_class|NewType|\w*Kind"
)
"""Calls whose arguments are patterns, keys or names; and `Kind`, whose texts are listed with their check."""
_NOT_TEXTS = re.compile(r"id|classes|role|style|question|metavar|dest|action|mode|place|tag\w*")
"""Keywords whose values are no texts; and `question`, which is listed with its check."""

_PATTERN = re.compile(r"\(\?|\\[dsSwb.]|\[\^|\.\*|\$[{(]|\"\$|2>|^[%<]|^[a-z-]+: .*;$|\{$")
_SQL = re.compile(r"(SELECT|WITH|INSERT|UPDATE|DELETE|CREATE|FROM|WHERE|AND|ORDER BY|BEGIN|PRAGMA) [^a-z]*\b")
_HOLE = re.compile(r"\{[^{}|]*\}|%\w")
_HEADING = re.compile(r"[A-Z][a-z]{2,}[:.]?")
_CODE = re.compile(r"[A-Z][A-Z0-9]*(-[A-Z0-9]+)+-\d{3}")
_LONGEST_HOLE = 40


class Text(NamedTuple):
    """One line of text."""

    text: str
    """With `{expression}` where a value stands, and `{one|other}` where one of two texts does."""
    codes: tuple[str, ...] = ()
    """The codes of the findings or obstacles that it is written for, where the call names them."""
    is_reason: bool = False
    """Whether an exception says it, or a fact that is not known."""


@cache
def source_tree(path: Path) -> ast.Module:
    """The syntax tree of a file of source. It is kept: several tests read the same trees, and none changes them."""
    return ast.parse(path.read_text(encoding="utf-8"))


def is_text(line: str) -> bool:
    """Whether a line has words for people: a heading of one word, two words, or a word and a value."""
    words = re.findall(r"[A-Za-z]{2,}", _HOLE.sub(" ", _HOLE.sub(" ", line)))  # a hole may have one inside
    if _PATTERN.search(line) or _SQL.match(line):
        return False
    return bool(_HEADING.fullmatch(line)) or (" " in line and (len(words) > 1 or any(len(w) > 2 for w in words)))


def exception_names(trees: Iterable[ast.Module]) -> frozenset[str]:
    """The names of all exception classes: those of Python, and those that derive from one in these modules."""
    found = {n for n, c in vars(builtins).items() if isinstance(c, type) and issubclass(c, BaseException)}
    classes = [node for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)]
    while new := {c.name for c in classes if c.name not in found and found & {_name(base) for base in c.bases}}:
        found |= new
    return frozenset(found)


def texts_of_module(tree: ast.Module, names: Mapping[str, Any], exceptions: frozenset[str]) -> list[Text]:
    """The texts of a module, in their order. `names` is its namespace at run time, which has the codes of kinds."""
    visitor = _Texts(names, _REASONS | exceptions)
    visitor.visit(tree)
    return list(dict.fromkeys(visitor.found))


def texts_of_template(template: str) -> list[Text]:
    """The texts of a Jinja template of HTML: in labels, in the template's own strings, and between tags."""
    page = re.sub(r"<style>.*?</style>|\{#.*?#\}", "", template, flags=re.DOTALL)
    own = re.findall(r'[{%][^"<>]*"([^"<>{}]+)"', page)
    page = re.sub(r"\{%.*?%\}", "", page)
    page = re.sub(r"\{\{\s*(.*?)\s*\}\}", lambda hole: "{" + _cut(hole[1]) + "}", page)
    labels = re.findall(r'(?:aria-label|alt|title)="([^"]+)"', page)
    page = re.sub(r"</?(?:b|em|code|a|span|time|abbr|strong)\b[^<>]*>", "", page)
    lines = (line.strip() for line in (*labels, *own, *re.split(r"<[^<>]*>|\n", page)))
    return [Text(line) for line in dict.fromkeys(lines) if is_text(line)]


class _Texts(ast.NodeVisitor):
    """Collects the texts of a module, with the codes of the call that they stand in."""

    def __init__(self, names: Mapping[str, Any], reasons: frozenset[str]) -> None:
        self.found: list[Text] = []
        self._names, self._reasons = names, reasons
        self._codes: tuple[str, ...] = ()
        self._is_reason = False

    def visit(self, node: ast.AST) -> None:
        """Take a text whole, then look into its holes; look into any other node."""
        holes: list[ast.expr] = []
        text = None if isinstance(node, ast.IfExp) else _rendered(node, holes)
        if text is None:
            super().visit(node)
            return
        lines = (line.strip() for line in text.split("\n"))
        self.found += [Text(line, self._codes, self._is_reason) for line in lines if is_text(line)]
        for hole in holes:
            self.visit(hole)

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # else it is a docstring
            self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        if _name(node.targets[0]) != "__all__":
            self.visit(node.value)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.visit(node.value)

    def visit_Compare(self, node: ast.Compare) -> None:
        pass

    def visit_MatchValue(self, node: ast.MatchValue) -> None:
        pass

    def visit_keyword(self, node: ast.keyword) -> None:
        if not _NOT_TEXTS.fullmatch(node.arg or ""):
            self.visit(node.value)

    def visit_Raise(self, node: ast.Raise) -> None:
        self._inside(node, self._codes, True)

    def visit_Call(self, node: ast.Call) -> None:
        name = _name(node.func)
        if any(map(_own_command, node.args)) and not _own_command(node):  # the parts of one text
            node = ast.Call(node.func, [ast.Tuple(node.args)], node.keywords)
        if name == "Action":  # a key of the console: its name, its help and its label belong together
            self.found.append(Text(" · ".join(filter(None, (_rendered(part, []) for part in node.args[2:])))))
        elif _NOT_FOR_PEOPLE.fullmatch(name):
            self.visit(node.func)
        else:
            self._inside(node, self._codes_of(node) or self._codes, self._is_reason or name in self._reasons)

    def _inside(self, node: ast.AST, codes: tuple[str, ...], is_reason: bool) -> None:
        before = self._codes, self._is_reason
        self._codes, self._is_reason = codes, is_reason
        self.generic_visit(node)
        self._codes, self._is_reason = before

    def _codes_of(self, call: ast.Call) -> tuple[str, ...]:
        owner = [call.func.value] if isinstance(call.func, ast.Attribute) else []
        found: dict[str, None] = {}
        for part in (*owner, *call.args, *(keyword.value for keyword in call.keywords)):
            for chosen in (part.body, part.orelse) if isinstance(part, ast.IfExp) else (part,):
                value = self._value(chosen)
                code = value.code if isinstance(value, Kind) else value
                if isinstance(code, str) and _CODE.fullmatch(code):
                    found[code] = None
        return tuple(found)

    def _value(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Attribute) and isinstance(owner := self._value(node.value), Kind | ModuleType):
            return getattr(owner, node.attr, None)
        return self._names.get(node.id) if isinstance(node, ast.Name) else getattr(node, "value", None)


def _rendered(node: ast.AST, holes: list[ast.expr]) -> str | None:
    """An expression as a text, None where it is none; the expressions of its holes are added to `holes`."""

    def part(inner: ast.expr) -> str:
        if (text := _rendered(inner, holes)) is not None:
            return text
        holes.append(inner)
        return "{" + _cut(ast.unparse(inner)) + "}"

    def has_text(*inner: ast.expr) -> bool:
        return any(_rendered(one, []) is not None for one in inner)

    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(map(part, values))
        case ast.FormattedValue(value=value):
            return part(value)
        case ast.IfExp(body=one, orelse=other) if has_text(one, other):
            return "{" + part(one) + "|" + part(other) + "}"
        case ast.BinOp(left=left, op=ast.Add(), right=right) if has_text(left, right):
            return part(left) + part(right)
        case ast.Call() if own := _own_command(node):
            return own
        case ast.Tuple(elts=parts) if any(map(_own_command, parts)) and any(not _own_command(one) for one in parts):
            return "".join(f"`{own}`" if (own := _own_command(one)) else part(one) for one in parts)
    return None


def _own_command(node: ast.AST) -> str:
    """A command of racwire in the parts of a text or step, as in a plain change; empty for any other expression."""
    match node:
        case ast.Name(id="VERIFY"):
            return "racwire change verify"
        case ast.Call(func=ast.Name(id="OwnCommand" | "plan_again" as name), args=args):
            words = [_rendered(one, []) or "{" + _cut(ast.unparse(one)) + "}" for one in args[:2]]
            return " ".join(("racwire change", *(("new",) if name == "plan_again" else ()), *words)).strip()
    return ""


def _name(node: ast.AST) -> str:
    return str(getattr(node, "attr", getattr(node, "id", "")))


def _cut(source: str) -> str:
    source = " ".join(source.split())
    return source if len(source) <= _LONGEST_HOLE else f"{source[: _LONGEST_HOLE - 1]}…"
