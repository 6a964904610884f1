"""Hostile values in every field of the facts that can hold text: each output has them as data, and a shell as words.

Each field is tried in clusters of the case book that have it, and in plans and gates of changes. The sample of
`make test` has a few fields; `make cases` has all.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from xml.etree.ElementTree import fromstring

import msgspec
import pytest
from _pytest.mark import ParameterSet
from markdown_it import MarkdownIt
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from checks.change.board import board_html, board_markdown
from checks.change.board.change_report import report_of as change_report
from checks.change.plan.change_plan import Plan
from checks.change.plan.planning import look_of
from checks.change.progress.change_events import Opened
from checks.change.progress.state import fold
from checks.model.facts import Cluster
from checks.model.finding import NextStep
from checks.model.impossible_values import judged_fields, without_impossible
from checks.model.report import Report
from checks.model.settings import Settings
from checks.model.shell_command import Language
from checks.report.causes import cause_entries
from checks.report.folding import alone
from checks.report.json_report import from_json
from checks.report.report_evidence import Evidence
from checks.run.check_discovery import discover
from checks.run.replay import ReplayedFacts
from checks.run.sudoers import SudoersError, sudoers_lines
from checks.sources.clusterware.grid_home import right_to_the_tools
from checks.sources.database.driver_errors import right_to_run
from checks.sources.database.statements import statement
from tests.support.hostile_values import CANARY, OBEYED, SHELL, VALUES, changing, is_whole, other_faults, shell_faults
from tests.support.stub_shell import StubShell
from tests.support.text_fields import TextField, text_fields, with_text
from tests.unit.change_support import lines as journal_lines
from tests.unit.hostile_bases import bases, gates, has, planned_or_refused, plans, whole
from tests.unit.test_hostile_commands import commands
from tests.unit.test_hostile_plans import blocks
from tests.unit.test_report_html_hostile import ATTRIBUTES, OWN
from tui.cli.main import main
from tui.cli.report_formats import FORMATS
from tui.terminal.clipboard import commands_text
from tui.text.entry_lines import pane_entry_lines
from tui.text.finding_lines import STREAM, finding_lines
from tui.text.line import Line
from tui.text.step_lines import step_lines

FIELDS = text_fields(Cluster)
NOT_TRIED = {"NotGathered.reason": "a cluster replaces each NotGathered by its own"}
TIMES = {"SeenRecording.begun_at": "a recording without one is Unknown"}
"""Times, which gates compare."""
CHECKS = tuple(discover().checks)
SQL = ("ALTER", "BEGIN", "CREATE", "DROP", "EXEC", "FLASHBACK", "GRANT", "SELECT", "SHOW", "SHUTDOWN", "STARTUP")
SAMPLE = ("Port.interface", "Interface")
BASES = 2
"""Beyond the sample a field is tried in so many clusters."""


@dataclass
class Printed:
    """What one field with hostile values led to."""

    shell: dict[str, None] = field(default_factory=dict)
    other: dict[str, None] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def judge(self, what: str, fault: object) -> None:
        if fault:
            self.faults.append(f"{what}: {fault}")

    def add(self, commands: Iterable[str], *, is_shell: bool | None = None) -> None:
        """Judge commands; where the language is not stated, SQL begins with a word of it."""
        for command in commands:
            in_shell = is_shell if is_shell is not None else not command.upper().startswith(SQL)
            (self.shell if in_shell else self.other).setdefault(command)
            self.judge(command, shell_faults(command) if in_shell else other_faults(command))

    def add_plan(self, plan: Plan) -> None:
        for block in (block for step in plan.steps for block in step.commands):
            is_shell = block.language in (Language.SHELL, Language.SSH)
            self.add((*block.lines, *(own.line() for own in block.own)), is_shell=is_shell)

    def add_steps(self, steps: Sequence[NextStep]) -> None:
        for step in steps:
            self.add((*step.commands, *(own.line() for own in step.own)))
        copied = commands_text(steps)
        self.judge("the clipboard", OBEYED.search(copied))
        typed = {line for step in steps for command in step.commands for line in command.splitlines()}
        left = [line for line in copied.split("\n") if line and not line.startswith("# ") and line not in typed]
        self.judge("the clipboard", left)


def sampled() -> Iterator[ParameterSet]:
    for one in FIELDS:
        if str(one) not in NOT_TRIED:
            yield pytest.param(one, id=str(one), marks=() if str(one) in SAMPLE else (pytest.mark.beyond_sample,))


@pytest.fixture(scope="session")
def shell(
    tmp_path_factory: pytest.TempPathFactory, record_testsuite_property: Callable[[str, object], None]
) -> Iterator[StubShell]:
    made = StubShell(tmp_path_factory.mktemp("shell"), CANARY)
    yield made
    record_testsuite_property("text fields", len(FIELDS))
    record_testsuite_property("commands that a shell ran", len(made.ran))
    record_testsuite_property("of them without a program", len([one for one in made.ran.values() if not one.calls]))


def is_parsed(of: TextField) -> bool:
    """Whether a text of the field is parsed before it is a fact, as an address, or racwire's own, as a command."""
    rule = next((rule for name, _, rule, _ in judged_fields(of.kind) if name == of.name), "")
    return bool(rule) and "interface" not in rule


@pytest.mark.parametrize("of", sampled())
def test_a_value_in_a_field_is_a_word_of_each_command(of: TextField, shell: StubShell) -> None:
    printed, found = Printed(), bases(of, 1 if str(of) in SAMPLE else BASES)
    assert found, "no cluster has the field"

    def hostile(built: Cluster, number: int = 0) -> Cluster:
        changed = with_text(built, of, changing(f"{of} {number}"))
        return without_impossible(changed) if is_parsed(of) else changed

    for number, base in enumerate(found):
        report = judged(hostile(base, number))
        printed.judge("from a file", is_parsed(of) and crashes(report))
        for finding in (*report.findings, *report.diagnosis.hypotheses):
            printed.add_steps(finding.next)
    for base in plans():
        if has(base[0], of.kind):
            plan = planned_or_refused(base, hostile)
            printed.add_plan(plan) if isinstance(plan, Plan) else printed.add_steps([s for o in plan for s in o.next])
    if has(whole(), of.kind) and str(of) not in TIMES:
        for finding in gates(hostile(whole())):
            printed.add_steps(finding.next)
    assert printed.faults == []
    assert ran(printed.shell, shell) == []


KINDS = tuple(dict.fromkeys(one.kind for one in FIELDS if str(one) not in NOT_TRIED and not is_parsed(one)))


@pytest.mark.parametrize(
    "kind",
    [pytest.param(one, id=one.__name__, marks=() if one.__name__ in SAMPLE else (pytest.mark.beyond_sample,))
     for one in KINDS],
)  # fmt: skip
def test_the_values_of_a_fact_are_data_in_each_format_and_on_each_screen(kind: type[msgspec.Struct]) -> None:
    def hostile(built: Cluster) -> Cluster:
        for number, of in enumerate(FIELDS):
            if of.kind is kind and str(of) not in NOT_TRIED and not is_parsed(of):
                built = with_text(built, of, changing(number))
        return built

    printed = Printed()
    base = next(built for of in FIELDS if of.kind is kind for built in bases(of, 1))
    of_report(printed, judged(hostile(base)))
    for plan in plans()[::4]:
        if has(plan[0], kind) and isinstance(made := planned_or_refused(plan, hostile), Plan):
            of_plan(printed, made)
    assert printed.faults == []


def judged(cluster: Cluster) -> Report:
    return asyncio.run(ReplayedFacts(cluster, CHECKS, Settings()).run())


def crashes(report: Report) -> list[str]:
    return [f"{f.code} {f.check} {f.title}" for f in report.findings if f.code == "RW-ENGINE-002"]


# --- what is printed --------------------------------------------------------------------------------------------------


def of_report(printed: Printed, report: Report) -> None:
    for entry in cause_entries(report):
        of_lines(printed, pane_entry_lines(entry, report, 100, "", entry.next))
    for finding in report.findings:
        for layout in (None, STREAM):
            of_lines(printed, finding_lines(alone(finding), report, 100, layout=layout))
    written = {name: form.write(Evidence(report)).decode() for name, form in FORMATS.items()}
    for name, text in written.items():
        printed.judge(name, OBEYED.search(text))
    printed.judge("text", [line for line in written["text"].splitlines() if line.startswith(CANARY)])
    of_markdown(printed, written["markdown"])
    of_page(printed, written["html"])
    from_json(written["json"].encode())
    fromstring(written["junit"].encode())
    codes = {s.labels["code"] for f in text_string_to_metric_families(written["openmetrics"])
             for s in f.samples if f.name == "racwire_finding"}  # fmt: skip
    printed.judge("metrics", codes - {f.code for f in report.findings})


def of_lines(printed: Printed, lines: Iterable[Line]) -> None:
    for line in lines:
        text = "".join(part for part, _ in line)
        printed.judge("a screen", OBEYED.search(text) or "\n" in text)


def of_markdown(printed: Printed, text: str) -> None:
    tokens = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(text)
    inline = [child for token in tokens for child in token.children or []]
    printed.judge("Markdown", [t.content for t in (*tokens, *inline) if t.type.startswith("html")])
    printed.judge("Markdown", {t.type for t in inline if t.type.startswith(("link", "image", "s_", "em_"))})


class Page(HTMLParser):
    """The elements and attributes of a page that racwire does not make itself."""

    def __init__(self) -> None:
        super().__init__()
        self.strange: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        own = {"aria-hidden", *(name.lower() for name in ATTRIBUTES)}
        wrong = [f"{n}={v}" for n, v in attrs if n not in own or (n == "href" and not (v or "").startswith("#"))]
        self.strange += [*([] if tag in OWN else [tag]), *wrong]


def of_page(printed: Printed, text: str) -> None:
    page = Page()
    page.feed(text)
    printed.judge("HTML", page.strange)


def of_plan(printed: Printed, plan: Plan) -> None:
    """Judge a plan: what is typed, what the console shows, and its report for a change board."""
    change = fold(journal_lines(Opened(plan, look_of(plan_cluster(plan), plan))))
    for step in plan.steps:
        of_lines(printed, step_lines(change, step, 100))
    report = change_report(change)
    markdown = board_markdown.to_markdown(report).decode()
    page = board_html.to_html(report).decode()
    printed.judge("a report of a change", OBEYED.search(markdown) or OBEYED.search(page))
    of_markdown(printed, markdown)
    of_page(printed, page)


def plan_cluster(plan: Plan) -> Cluster:
    """Return a cluster of which nothing was read."""
    return Cluster(plan.nodes[0], plan.made_at)


# --- what a shell makes of it -----------------------------------------------------------------------------------------


def ran(lines: Iterable[str], shell: StubShell) -> list[str]:
    """Run the lines that have a value with the canary; return what is wrong with the words that programs got."""
    hostile = [line for line in lines if CANARY in line and not line.startswith("#")]
    faults = []
    for one in shell.run(hostile):
        for program, *words in one.calls:
            if program == f"/stubs/{CANARY}":
                faults.append(f"{one.line}: ran the value")
            faults += [f"{one.line}: {program} got {word[:90]!r}" for word in (program, *words) if not is_whole(word)]
    return faults + [f"wrote {file}" for file in shell.written() if not is_whole(file)]


@pytest.mark.parametrize(
    ("value", "every"),
    [(SHELL[0], 0), *(pytest.param(value, 4, marks=pytest.mark.beyond_sample) for value in SHELL)],
)
def test_a_value_in_each_name_at_once_is_a_word_of_each_command(value: str, every: int, shell: StubShell) -> None:
    """Here the names still agree with each other, so that the checks and plans have as much to say as before."""
    printed = Printed()
    if every:
        printed.add(commands(lambda name: name + value, every))
    for block in blocks(value):
        printed.add(block.lines, is_shell=block.language in (Language.SHELL, Language.SSH))
    assert printed.faults == []
    assert ran(printed.shell, shell) == []


# --- what racwire prints for a shell or a database without a cluster --------------------------------------------------


def test_a_value_is_data_in_the_lines_of_sudoers_and_in_the_grants(shell: StubShell) -> None:
    printed = Printed()
    for value in VALUES:
        for words in ((value, "/u01/grid", "grid"), ("dba1", f"/u01/{value}", "grid"), ("dba1", "/u01/grid", value)):
            try:
                lines = list(sudoers_lines(*words))
            except SudoersError as refused:
                printed.judge("sudoers", OBEYED.search(str(refused)))
            else:
                is_plain = re.fullmatch(r"[\w./+-]*", value)
                printed.judge("sudoers", [n for n in lines if OBEYED.search(n) or (CANARY in n and not is_plain)])
        for right in (right_to_run(statement("instances"), value), right_to_the_tools(value)):
            printed.add(right.commands)
            printed.add(filter(None, (right.script,)), is_shell=True)
    assert printed.faults == []
    assert ran(printed.shell, shell) == []


@pytest.mark.parametrize("value", ["x;xyzzy", "x\nxyzzy", 'x" IDENTIFIED BY xyzzy', "x\x1b[2Jxyzzy", ""])
def test_grants_refuse_a_user_that_is_no_name(value: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["grants", f"--user={value}"]) == 64
    out, err = capsys.readouterr()
    assert out == ""
    assert not OBEYED.search(err)
