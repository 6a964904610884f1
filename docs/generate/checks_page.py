"""The page of checks and codes: what each check and each gate asks, how it judges, and its codes, from the source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from checks.change.gates import documented
from checks.change.plan import codes
from checks.model.check import Check, Kind
from checks.model.exit_codes import ExitCode
from checks.run.check_discovery import discover
from checks.run.engine_findings import KINDS
from docs.generate.message_catalogue import escaped

_ABOUT = """\
# Checks and codes

Do not edit this page: `make docs` writes it from the source. On a node `racwire explain df-ping` and
`racwire explain IC-PATH-003` print the same texts.

A **check** answers one question about the cluster. A **gate** answers one question about a step of `racwire change`.
Both make **findings**. Each kind of finding has a **code** that never changes its meaning. Each finding
has one **status**:

| status | meaning | exit code of `racwire check` |
|---|---|---:|
| PASS | racwire checked this, and it is correct | {passed} |
| INFO | a fact worth reading; nothing is wrong | {passed} |
| WARN | something is wrong, or a value is above the threshold of a warning | {warned} |
| FAIL | something is wrong, or a value is above the threshold of a failure | {failed} |
| UNKNOWN | racwire could not read what it needs; the finding says why | {unknown} |
| SKIPPED | the check did not run, for the reason that it names | {passed} |

The worst finding decides the exit code: FAIL before UNKNOWN before WARN. A waived finding does not count.
[Cookbook](cookbook.md) has what to do next; [glossary](glossary.md) has the terms."""


def checks_page() -> str:
    """Return the text of `docs/checks.md`."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    own = [check for check in discover().every if check.judge.__module__.startswith("checks.")]
    gates = documented()
    yield _ABOUT.format(
        passed=int(ExitCode.PASS), warned=int(ExitCode.WARNINGS), failed=int(ExitCode.FAILURES),
        unknown=int(ExitCode.COULD_NOT_TELL),
    )  # fmt: skip
    yield from ("", "## List of checks", "", *_table(own), "", "## List of gates", "", *_table(gates))
    for check in (*own, *gates):
        yield from ("", f"## {check.id}", "", f"**{escaped(check.question)}**")
        if check.page != check.question:
            yield from ("", *("\n\n".join(" ".join(text.split()) for text in check.page.split("\n\n"))).splitlines())
        if check in own:
            yield from ("", f"Facts: {', '.join(check.needs)}{_if_known(check.uses)}.")
        yield from ("", *_kinds(check.kinds))
    yield from ("", "## Any check", "", "The engine makes these findings in place of a check.", "", *_kinds(KINDS))
    yield from ("", "## racwire change", "", "`racwire change` makes these before and during a change.", "")
    yield from _kinds(codes.KINDS)


def _table(checks: Iterable[Check]) -> Iterator[str]:
    yield from ("| id | question |", "|---|---|")
    yield from (f"| [`{check.id}`](#{check.id}) | {_cell(check.question)} |" for check in checks)


def _if_known(groups: Iterable[str]) -> str:
    named = ", ".join(groups)
    return f"; where they are available: {named}" if named else ""


def _kinds(kinds: Iterable[Kind]) -> Iterator[str]:
    yield from ("| code | finding | why it matters | sources |", "|---|---|---|---|")
    for kind in kinds:
        yield f"| {kind.code} | {_cell(kind.title)} | {_cell(kind.why)} | {_cell('; '.join(kind.sources))} |"


def _cell(text: str) -> str:
    return escaped(" ".join(text.split())).replace("|", r"\|")
