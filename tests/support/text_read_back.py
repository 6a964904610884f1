"""Finds the places of a source that read a sentence of a model back: that search, split or match its text."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from itertools import pairwise

PROSE = frozenset({"advice", "because", "headline", "note", "reason", "remark", "sentence", "text", "title", "why"})
"""Attributes that are sentences."""
TEXTS = PROSE | {"expected", "legend", "seen", "subject", "topic", "what", "where"}
"""Attributes that are texts for people. Those that are no sentences may be compared as wholes, as a key."""
SPEAKING = PROSE - {"note", "text", "why"}
"""Names of variables and arguments that hold a sentence."""

_SEARCHES = frozenset(
    {"count", "endswith", "find", "index", "partition", "removeprefix", "removesuffix", "replace", "rfind", "rindex"}
    | {"rpartition", "rsplit", "split", "splitlines", "startswith"}
)
_MATCHES = frozenset({"findall", "finditer", "fullmatch", "match", "search", "split", "sub", "subn"})
_SAME = frozenset({"casefold", "lower", "lstrip", "rstrip", "strip", "upper"})
"""Methods that leave the words of a text as they are."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def read_back(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield the function and the line of each place that reads a sentence; the function is empty for a module's own.

    Laying a text out is not reading: to add or remove a full stop, to break it into words or lines.
    """
    found: dict[int, str] = {}
    for scope in (tree, *(node for node in ast.walk(tree) if isinstance(node, Function))):
        is_function, nodes = isinstance(scope, Function), [*ast.walk(scope)]
        names, prose = (SPEAKING | _bound(nodes, of) if is_function else SPEAKING for of in (TEXTS, PROSE))
        for node in nodes:
            if (isinstance(node, ast.Call) and _is_search(node, names)) or (
                isinstance(node, ast.Compare) and _is_membership(node, names, prose)
            ):
                found[node.lineno] = scope.name if is_function else found.get(node.lineno, "")
    yield from ((function, line) for line, function in sorted(found.items()))


def _bound(nodes: Iterable[ast.AST], attributes: frozenset[str]) -> frozenset[str]:
    """The names in a function that hold such an attribute, or each of several in it."""
    found: set[str] = set()
    for node in nodes:
        match node:
            case ast.Assign(targets=[target], value=value):
                pass
            case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
                pass
            case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
                pass
            case _:
                continue
        if isinstance(target, ast.Name) and _is_text(value, frozenset(), attributes):
            found.add(target.id)
    return frozenset(found)


def _is_search(call: ast.Call, names: frozenset[str]) -> bool:
    if not isinstance(call.func, ast.Attribute):
        return False
    method, arguments = call.func.attr, call.args
    is_layout = not arguments or (isinstance(arguments[0], ast.Constant) and arguments[0].value in (".", "\n"))
    if method in _SEARCHES and not is_layout and _is_text(call.func.value, names):
        return True
    return method in _MATCHES and any(_is_text(argument, names) for argument in arguments)


def _is_membership(compared: ast.Compare, names: frozenset[str], prose: frozenset[str]) -> bool:
    """Whether a text is searched for a word, or a sentence is looked up."""
    sides = pairwise((compared.left, *compared.comparators))
    for operator, (left, right) in zip(compared.ops, sides, strict=True):
        if not isinstance(operator, ast.In | ast.NotIn):
            continue
        if _is_text(right, names) or (_is_text(left, prose, PROSE) and not _is_collection(right)):
            return True
    return False


def _is_collection(node: ast.expr) -> bool:
    """Whether this is a collection for certain: whole texts are compared."""
    is_constant = isinstance(node, ast.Name) and node.id.strip("_").isupper()
    return is_constant or isinstance(node, ast.Tuple | ast.List | ast.Set | ast.Dict)


def _is_text(node: ast.expr, names: frozenset[str], attributes: frozenset[str] = TEXTS) -> bool:
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _SAME:
        node = node.func.value
    if isinstance(node, ast.Attribute):
        return node.attr in attributes
    return isinstance(node, ast.Name) and node.id in names
