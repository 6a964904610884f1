"""The modules of the product and of the practice cluster, parsed once, and what each imports."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from docs.generate.source_texts import source_tree

ROOT = Path(__file__).parents[2]
PACKAGES = {"checks": ROOT / "checks", "tui": ROOT / "tui", "racwire_lab": ROOT / "lab" / "racwire_lab"}


@dataclass(frozen=True)
class Module:
    """A module of the product or of the practice cluster."""

    name: str
    path: Path
    tree: ast.Module
    nodes: Sequence[ast.AST]
    """All nodes of the tree: most rules look at each, and a walk takes longer than a look."""
    text: str
    code_lines: int

    @property
    def lines(self) -> int:
        return self.text.count("\n")

    @property
    def package(self) -> str:
        return self.name if self.path.stem == "__init__" else self.name.rpartition(".")[0]


@cache
def modules() -> dict[str, Module]:
    return {module.name: module for module in _modules()}


def _modules() -> Iterator[Module]:
    for package, directory in PACKAGES.items():
        for path in sorted(directory.rglob("*.py")):
            parts = path.relative_to(directory).with_suffix("").parts
            name = ".".join((package, *(part for part in parts if part != "__init__")))
            text = path.read_text(encoding="utf-8")
            tree = source_tree(path)
            nodes = [*ast.walk(tree)]
            yield Module(name, path, tree, nodes, text, len(_code_lines(text, nodes)))


def _code_lines(text: str, nodes: Sequence[ast.AST]) -> set[int]:
    """Numbers of the lines that are neither blank nor a comment nor part of a docstring."""
    prose: set[int] = set()
    for node in nodes:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            prose.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = enumerate(text.splitlines(), 1)
    return {n for n, line in lines if n not in prose and line.strip() and not line.strip().startswith("#")}


@cache
def imports() -> dict[str, set[str]]:
    """The modules that each one imports."""
    return {module.name: set(_imports_of(module)) - {module.name} for module in modules().values()}


def _imports_of(module: Module) -> Iterator[str]:
    """The modules that one imports, inside functions too; not what only the type checker reads."""
    for node in _executed(module.tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules())
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = module.package.split(".")
                base = ".".join((*above[: len(above) - node.level + 1], *([node.module] if node.module else ())))
            for alias in node.names:
                if f"{base}.{alias.name}" in modules():
                    yield f"{base}.{alias.name}"
                elif base in modules():
                    yield base


def _executed(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            continue
        yield node
        yield from _executed(node)


@cache
def importers() -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for module, imported_modules in imports().items():
        for imported in imported_modules:
            found[imported].add(module)
    return found
