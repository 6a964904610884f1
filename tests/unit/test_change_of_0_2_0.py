"""Journals of racwire 0.2.0 open with typed fields: who types what, next steps, and racwire's own commands in texts."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from checks.change.plan.change_plan import Plan
from checks.change.plan.command_block import Commands, Who
from checks.change.progress.change_events import GateResult, Noted
from checks.change.progress.own_commands import OwnCommands
from checks.change.record.change_journal import ChangeJournal
from checks.change.record.plans_of_0_2_0 import decoded
from checks.model.own_command import OwnCommand, Text, written

FILES = Path(__file__).parents[1] / "golden" / "v0_2_0"
JOURNALS = [*FILES.glob("*.change"), *(FILES / "plans").glob("*.change")]
OWN = re.compile(r"racwire (change|experiment)\b")


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line)["event"] for line in path.read_bytes().splitlines()]


def plans(path: Path) -> Iterator[tuple[dict[str, Any], Plan]]:
    """Yield each plan of a journal as it is in the file, and as it is read."""
    for old, line in zip(lines_of(path), ChangeJournal.read(path).change.lines, strict=True):
        if "plan" in old:
            yield old["plan"], getattr(line.event, "plan")  # noqa: B009 - mypy knows no plan of every event


def blocks(path: Path) -> Iterator[tuple[dict[str, Any], Commands]]:
    for old, plan in plans(path):
        for before, step in zip(old["steps"], plan.steps, strict=True):
            yield from zip(before.get("commands", ()), step.commands, strict=True)


def words(heading: str) -> list[str]:
    """The words of a heading without the note that the commands are optional, which all optional blocks have now."""
    return [word for word in re.findall(r"[^\s(),:]+", heading) if word != "optional"]


def typed(text: Text, old: str) -> bool:
    """Whether a text says what it said, with each of racwire's commands as data."""
    rest = (text,) if isinstance(text, str) else [part for part in text if isinstance(part, str)]
    return written(text) == old and not any(OWN.search(part) for part in rest)


@pytest.mark.parametrize("path", JOURNALS, ids=lambda path: path.stem)
def test_each_block_has_the_heading_and_the_lines_that_it_had(path):
    for old, block in blocks(path):
        assert words(block.heading) == words(old["where"])
        assert [
            *block.lines,
            *(own.line("experiment" if "experiment" in path.stem else "change") for own in block.own),
        ] == old["lines"]
        assert block.who is not Who.OPERATOR or not old["where"].startswith("As ")
        is_root = old["where"].startswith("As root on ") and "node" in old
        assert block.is_piped == (is_root and not old["lines"][0].startswith("racwire "))


@pytest.mark.parametrize("path", JOURNALS, ids=lambda path: path.stem)
def test_texts_have_typed_commands(path):
    for old, plan in plans(path):
        for before, step in zip(old["steps"], plan.steps, strict=True):
            assert typed(step.what, before["what"])
            assert typed(step.if_rolled_back, before.get("if_rolled_back", ""))
            assert not OWN.search(" ".join((step.why, step.expected, step.attest)))
        remarks = [remark for remark in old.get("remarks", ()) if not remark.startswith("This is the practice cluster")]
        assert all(map(typed, plan.remarks, remarks))
    assert all(typed(block.note, old.get("note", "")) for old, block in blocks(path))


def results(event: Any) -> tuple[GateResult, ...]:
    return (*getattr(event, "results", ()), *getattr(event, "not_held", ()))


@pytest.mark.parametrize("path", JOURNALS, ids=lambda path: path.stem)
def test_next_steps_say_what_they_said(path):
    for old, line in zip(lines_of(path), ChangeJournal.read(path).change.lines, strict=True):
        for before, now in zip((*old.get("results", ()), *old.get("not_held", ())), results(line.event), strict=True):
            texts = OwnCommands().document(now).get("next", [])
            for said in filter(None, (step.caution.rstrip(".") for step in now.next)):
                texts = [text.replace(f". {said}", "") for text in texts]  # 0.2.0 left out the effect of a step
            assert texts == before.get("next", [])
            assert now.is_danger == before.get("sentence", "").startswith("DANGER")
            assert not any(OWN.match(command) for step in now.next for command in step.commands)


def test_the_journals_have_a_danger_and_steps_that_only_verify():
    found = [r for path in JOURNALS for line in ChangeJournal.read(path).change.lines for r in results(line.event)]
    assert any(result.is_danger for result in found)
    assert any(step.only_verifies for result in found for step in result.next)


def test_what_a_person_does_by_hand_is_not_piped():
    block = {"where": "By hand, as root on rac2, for the next boot:", "lines": ["grep -rns mtu /etc"], "node": "rac2"}
    (read,) = read_with(block).steps[0].commands
    assert (read.who, read.by_hand, read.is_piped, read.purpose) == (Who.ROOT, True, False, "for the next boot")
    assert read.heading == block["where"]


def test_a_heading_of_another_shape_is_shown_as_it_was():
    block = {"where": "Wherever you like:", "lines": ["true"]}
    (read,) = read_with(block).steps[0].commands
    assert (read.who, read.heading, read.is_piped) == (Who.OPERATOR, block["where"], False)


def read_with(block: dict[str, Any]) -> Plan:
    """Return the plan of a journal whose first step has only this block."""
    line = json.loads((FILES / "plans" / "rp-filter.change").read_bytes().splitlines()[0])
    line["event"]["plan"]["steps"][0]["commands"] = [block]
    return getattr(decoded(json.dumps(line).encode()).event, "plan")  # type: ignore[no-any-return]  # noqa: B009


@pytest.mark.parametrize(
    "spoilt", [{"event": []}, {"event": {"event": "opened", "plan": {"schema": "racwire-change/1"}}}]
)
def test_a_damaged_line_is_an_error_of_its_format(spoilt):
    with pytest.raises(msgspec.MsgspecError):
        decoded(json.dumps(spoilt).encode())


@pytest.mark.parametrize("path", JOURNALS, ids=lambda path: path.stem)
def test_a_line_of_this_version_follows_in_the_same_file(path, tmp_path):
    copy = Path(shutil.copy(path, tmp_path))
    journal = ChangeJournal.read(copy)
    if not journal.change.is_open:
        return
    journal.append(Noted(journal.change.plan.steps[0].id, "Continued."), who="root@rac1", version="0.3.0")
    assert copy.read_bytes().startswith(path.read_bytes())
    assert ChangeJournal.read(copy).change.lines == journal.change.lines


def test_an_own_command_of_an_experiment_is_about_the_experiment():
    journal = ChangeJournal.read(FILES / "plans" / "experiment.change")
    (report,) = journal.change.plan.steps[-1].commands
    assert report.own == (OwnCommand("report"),)
    assert OwnCommands(program="experiment").line(report.own[0]) == "racwire experiment report"
    change = next(step for step in journal.change.plan.steps if step.id == "set-mtu")
    assert [OwnCommands("--file x", "experiment", "--lab").line(own) for own in change.commands[0].own] == [
        "racwire change new --to 9000 --lab"
    ]
