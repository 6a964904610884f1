"""The structure of the code base: sizes, names, imports, where thresholds are read and statuses chosen.

Each rule lists its exceptions in `EXCEPTIONS`; the list only shrinks.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from functools import cache

import pytest

from checks.model.command_effect import effect_of
from checks.model.effect import Effect
from checks.model.facts import Thresholds
from tests.support.source_modules import PACKAGES, ROOT, importers, imports, modules
from tests.support.text_read_back import read_back
from tui.cli.main import COMMANDS

MOST_LINES = 400
FEWEST_CODE_LINES = 60
"""Of a module that only one sibling imports."""

REGISTRIES = (
    "checks.plugins",
    "checks.model.facts",
    "checks.report.html",
    "checks.change.gates",
    "checks.change.steps",
    "checks.traffic.imports",
    "checks.investigate.outputs",
    "checks.investigate.steps",
    "checks.sources.nodes.boot_config",
    "tui.cli",
    "tui.cli.change",
    "tui.screens",
    "racwire_lab.programs",
    "racwire_lab.programs.node_system",
)
"""Packages whose members are alike: one file a check, a command, a gate, a step, a format, a program."""

ENTRY_POINTS = {
    entry.partition(":")[0]
    for entry in tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"].values()
}
"""Modules that an installed command imports."""

FOLDER_NAMES = {"__init__", "__main__", "screen", "lines", "keys"}
"""Names that each folder of a screen can have."""

STATUS_DECLARED = ("checks.rules", "checks.model.finding", "checks.model.check")
"""Where statuses are chosen; where they are ranked, and where a kind of finding declares its own."""
TEXTUAL_ROOMS = ("tui.console", "tui.screens", "tui.widgets", "tui.terminal")
VAGUE_NAMES = {"plan", "utils", "helpers", "misc", "common", "kept", "given", "evidence"}


TAKES_COMMANDS = {"NextStep", "MissingRight", "NotAsked", "Commands", "as_sysdba"}
TAKES_SCRIPTS = {"shell", "sql", "switch", "for_each", "look"}
RUNS_ITSELF = ("checks.sources", "checks.run")
"""Packages that run programs: argument lists, and what the plan and the journal show of them."""
COMMAND = re.compile(
    rf"(?!show |with )(racwire ({'|'.join(COMMANDS)})|(?!racwire)[a-z./$][\w./$-]+|ALTER|CREATE|DROP|GRANT|SELECT) "
)
"""The start of a text that can be a command; `show` and `with` start sentences, too."""


def too_long() -> Iterator[str]:
    """Modules of more than 400 lines: two ideas."""
    yield from (m.name for m in modules().values() if m.lines > MOST_LINES)


def half_an_idea() -> Iterator[str]:
    """Small modules that only one sibling imports: half of an idea."""
    for module in modules().values():
        if module.path.stem in FOLDER_NAMES or module.code_lines >= FEWEST_CODE_LINES:
            continue
        users = importers().get(module.name, set())
        if module.package in REGISTRIES or module.name in ENTRY_POINTS or len(users) != 1:
            continue
        (user,) = users
        if user.rpartition(".")[0] == module.package or user == module.package:
            yield module.name


def repeated_classes() -> Iterator[str]:
    """Public class names that occur in more than one module."""
    where: dict[str, list[str]] = defaultdict(list)
    for module in modules().values():
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                where[node.name].append(module.name)
    yield from (name for name, places in where.items() if len(places) > 1)


def import_circles() -> Iterator[str]:
    """Modules that import each other, over whatever way."""
    graph = {name: sorted(imported) for name, imported in imports().items()}
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[str] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in graph[name]:
            if other not in index:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            circle = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(circle) > 1:
                found.extend(circle)

    for name in graph:
        if name not in index:
            visit(name)
    yield from found


def thresholds_read_elsewhere() -> Iterator[str]:
    """Modules outside `checks.rules` that read a threshold."""
    names = set(Thresholds.__struct_fields__)
    for module in modules().values():
        if module.name.startswith("checks.rules") or module.name in (
            "checks.model.settings",
            "checks.model.facts.cluster",
        ):
            continue
        if any(isinstance(node, ast.Attribute) and node.attr in names for node in module.nodes):
            yield module.name


def status_chosen_elsewhere() -> Iterator[str]:
    """Modules outside `checks.rules` that choose between statuses: FAIL or WARN as a value, not in a comparison."""
    for module in modules().values():
        is_named = "Status.FAIL" in module.text or "Status.WARN" in module.text
        if is_named and not module.name.startswith(STATUS_DECLARED) and any(_chosen_statuses(module.tree)):
            yield module.name


def _chosen_statuses(tree: ast.AST) -> Iterator[int]:
    """The lines where `Status.FAIL` or `Status.WARN` is assigned, returned, passed, or what a mapping has for a key."""
    above = {below: node for node in ast.walk(tree) for below in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        if not (
            isinstance(node, ast.Attribute) and node.attr in ("FAIL", "WARN") and ast.unparse(node.value) == "Status"
        ):
            continue
        within: ast.AST = node
        while isinstance(above[within], ast.IfExp | ast.BoolOp | ast.Tuple | ast.List | ast.Set | ast.keyword):
            within = above[within]
        user = above[within]
        is_key = isinstance(user, ast.Dict) and within in user.keys
        called = user.func.attr if isinstance(user, ast.Call) and isinstance(user.func, ast.Attribute) else ""
        if not (
            is_key
            or called in ("count", "isdisjoint")
            or isinstance(user, ast.Compare | ast.MatchValue | ast.Attribute)
        ):
            yield node.lineno


def repeated_module_names() -> Iterator[str]:
    """Module names that occur twice in one package tree."""
    for package in PACKAGES:
        where: dict[str, list[str]] = defaultdict(list)
        for module in modules().values():
            if module.name.partition(".")[0] == package and module.path.stem not in FOLDER_NAMES:
                where[module.path.stem].append(module.name)
        yield from (f"{package}: {stem}" for stem, places in where.items() if len(places) > 1)


def vague_names() -> Iterator[str]:
    """Modules whose name says nothing."""
    yield from (m.name for m in modules().values() if m.path.stem.strip("_") in VAGUE_NAMES)


def textual_elsewhere() -> Iterator[str]:
    """Modules that import textual outside of the console's rooms."""
    for module in modules().values():
        if module.name.startswith(TEXTUAL_ROOMS):
            continue
        for node in module.nodes:
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if any(name.partition(".")[0] == "textual" for name in names):
                yield module.name
                break


def ways_to_the_lab() -> Iterator[str]:
    """Modules of the terminal that import the practice cluster, after the first."""
    found = []
    for module in modules().values():
        if module.name.startswith("tui") and re.search(r"\bracwire_lab\b", module.text):
            reached = [n for n in module.nodes if isinstance(n, ast.ImportFrom | ast.Import)]
            if any("racwire_lab" in ast.unparse(n) for n in reached):
                found.append(module.name)
    yield from found[1:]


def commands_made_by_hand() -> Iterator[str]:
    """Modules that write a value into a printed command without `shell`, `sql` or `switch`: it could become syntax."""
    for module in modules().values():
        if module.name.startswith("racwire_lab"):
            continue
        texts = [node for node in module.nodes if isinstance(node, ast.JoinedStr)]
        scripts = [script for call in module.nodes for script in _scripts(call)]
        runs = module.name.startswith(RUNS_ITSELF)
        if any(map(_is_made, scripts)) or (not runs and any(map(_has_command, texts))):
            yield module.name


def _scripts(call: ast.AST) -> Iterator[ast.AST]:
    """What a call takes as commands: whole ones, or scripts with fields."""
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        return
    if call.func.id in TAKES_COMMANDS:
        starred = any(isinstance(argument, ast.Starred) for argument in call.args[:1])
        yield from (
            *([] if starred else call.args[1:2]),
            *(keyword.value for keyword in call.keywords if keyword.arg in ("commands", "lines")),
        )
    elif call.func.id in TAKES_SCRIPTS:
        yield from call.args


def _is_made(script: ast.AST) -> bool:
    """Whether text is put together here. The fields of `shell` may be: their values are quoted."""
    match script:
        case ast.JoinedStr() | ast.BinOp(op=ast.Add() | ast.Mod()):
            return True
        case ast.Call(func=ast.Attribute(attr="format" | "replace")):
            return True
        case ast.Call(func=ast.Name()) | ast.Subscript():
            return False
    return any(map(_is_made, ast.iter_child_nodes(script)))


def _has_command(text: ast.JoinedStr) -> bool:
    """Whether a text is a command with a value in it, or has one between backquotes."""
    pieces = (str(piece.value) if isinstance(piece, ast.Constant) else "\0" for piece in text.values)
    whole = "".join(pieces)
    found = [whole, *re.findall(r"`([^`]*)`", whole)]
    return any("\0" in one and COMMAND.match(one) and effect_of([one]) is not Effect.NOT_JUDGED for one in found)


MAY_READ_TEXT = {
    "checks.sources": "what programs, kernels and databases print",
    "checks.model.wording": "the end and the beginning of sentences, for display",
    "checks.measure.drill.cluster_events": "lines of Oracle's logs",
    "checks.measure.preparing": "what the far end prints",
    "checks.plugins.clusterware._services": "messages of crsctl",
    "checks.change.record.plans_of_0_2_0": "plans of 0.2.0 have sentences where plans have data now",
    "checks.rules.log_events": "lines of Oracle's logs",
    "checks.traffic.recording_shapes.gap_of": "recordings of 0.2.0 have the cause of a gap as a sentence alone",
    "checks.report.measured.drill_parts._transition": "results of 0.2.0 have the node in the subject alone",
    "checks.plugins.shared.instance_text.nameless": "instances with one reason share a line on the page",
    "checks.report.causes._reasons_of": "no reason is printed that the title has",
    "tui.cli.doctor_page": "no name is printed that the sentence has",
    "tui.cli.waiving": "the user's own pattern",
    "tui.screens.database.table.title": "the sign of the order, which the table has drawn",
    "tui.screens.paths.screen.upper_texts": "the line is cut at its gaps, where it is too long",
}
"""Packages, modules and functions that read a sentence, each with the reason."""


@cache
def readers_of_text() -> tuple[str, ...]:
    """The functions that search, split or match a sentence of a model."""
    own = (module for module in modules().values() if not module.name.startswith("racwire_lab"))
    return tuple(f"{m.name}.{function}".rstrip(".") for m in own for function, _ in read_back(m.tree))


def text_read_back() -> Iterator[str]:
    """Functions that search, split or match a sentence of a model: what decides is data."""
    for name in readers_of_text():
        if not any(f"{name}.".startswith(f"{exempt}.") for exempt in MAY_READ_TEXT):
            yield name


RULES = {
    rule.__name__: rule
    for rule in (
        too_long,
        half_an_idea,
        repeated_classes,
        import_circles,
        thresholds_read_elsewhere,
        status_chosen_elsewhere,
        repeated_module_names,
        vague_names,
        textual_elsewhere,
        ways_to_the_lab,
        commands_made_by_hand,
        text_read_back,
    )
}

EXCEPTIONS: dict[str, set[str]] = {
    "commands_made_by_hand": {
        "checks.change.gates.service_gates",  # `srvctl status database NAME` as the name of a source
        "checks.readiness.refusals",  # `ssh rac2` as the name of a source
        "checks.traffic.recording_file",  # a statement that racwire sends to its own file
        "tui.cli.lab",  # names of faults and nodes of the practice cluster
    },
}


@pytest.mark.parametrize("name", RULES)
def test_the_code_keeps_the_house_rules(name: str) -> None:
    broken, known = set(RULES[name]()), EXCEPTIONS.get(name, set())
    assert not broken - known, f"{RULES[name].__doc__}"
    assert not known - broken, "these keep the rule: take them off the list"


@pytest.mark.parametrize(
    ("line", "is_choice"),
    [
        ("a = Status.FAIL if lost > most else Status.PASS", True),
        ("a = slow and Status.WARN or Status.PASS", True),
        ("def f(): return (Status.WARN, 'slow')", True),
        ("LOST.finding('Lost.', status=Status.FAIL)", True),
        ("a = {Verdict.LOSS: Status.FAIL}[verdict]", True),
        ("a = {Status.FAIL: 'F', Status.WARN: 'W'}[status]", False),
        ("a = status in (Status.FAIL, Status.WARN) or report.count(Status.FAIL)", False),
        ("LOST.finding('Lost.', status=loss_status(percent, limits))", False),
    ],
)
def test_a_chosen_status_is_seen(line: str, is_choice: bool) -> None:
    assert any(_chosen_statuses(ast.parse(line))) is is_choice


def test_each_reader_of_text_that_is_named_reads_one() -> None:
    assert not [one for one in MAY_READ_TEXT if not any(f"{n}.".startswith(f"{one}.") for n in readers_of_text())]
