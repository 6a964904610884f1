"""Attacks on a change by false decisions, by crashes and on its journal: what racwire says and refuses.

Rehearsed on a practice cluster that runs, always from the same step of a change.
"""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.lab.lab_support import needs_namespaces
from tests.lab.node_operator import CommandResult, Operator
from tests.lab.rehearsal import Rehearsal, waiting

pytestmark = [pytest.mark.lab, needs_namespaces, pytest.mark.beyond_sample]

_AT = "from checks.change.record import change_journal; change_journal.now = lambda: '{}'"
"""A node whose clock was set: practice nodes have that of the machine."""
_FULL = (
    "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
    "resource.setrlimit(resource.RLIMIT_FSIZE, ({}, -1))"
)
_NOTE = "from tui.cli.main import main; raise SystemExit(main(['change', 'note', 'the load runs']))"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rehearsal]:
    """A change at the step baseline."""
    made = Rehearsal(tmp_path_factory.mktemp("rehearsal"))
    try:
        made.begin(9000)
        made.attest(made.step())
        yield made
    finally:
        made.end()


@pytest.fixture
def rehearsal(cluster: Rehearsal) -> Iterator[Rehearsal]:
    path = journal(cluster)
    before = path.read_bytes()
    yield cluster
    path.write_bytes(before)


def journal(rehearsal: Rehearsal) -> Path:
    (path,) = rehearsal.changes.glob("*.change")
    return path


def refused(result: CommandResult) -> str:
    """Return what racwire says, which must be a refusal."""
    assert result.code in (3, 64), (result.code, result.out, result.err)
    return result.err


# --- false decisions --------------------------------------------------------------------------------------------------


def test_no_step_is_skipped(rehearsal):
    rehearsal.verify()
    for _ in range(2):
        assert rehearsal.current == "baseline"
        assert "nothing to attest" in refused(rehearsal.change("attest", "--by", "Ann Lee", "--note", "all done"))
    assert "step 2 of 15" in rehearsal.change("status").out


def test_a_gate_cannot_be_attested(rehearsal):
    said = refused(rehearsal.change("attest", "--by", "Ann Lee"))
    assert "Step baseline has nothing to attest: `racwire change verify` verifies its gate." in said


def test_a_blank_name_decides_nothing(rehearsal):
    rehearsal.verify()
    said = refused(rehearsal.change("override", "--by", "  ", "--reason", "There is no load tonight."))
    assert "Enter the name of the person who overrides." in said
    assert "Enter the name" in refused(rehearsal.change("abandon", "--by", "", "--reason", "There is no window."))


def test_an_override_needs_words(rehearsal):
    rehearsal.verify()
    for words in ("", "ok", "         ."):
        said = refused(rehearsal.change("override", "--by", "Ann Lee", "--reason", words))
        assert "An override needs a reason of at least 10 characters" in said


def test_a_gate_that_nobody_looked_at_cannot_be_overridden(rehearsal):
    said = refused(rehearsal.change("override", "--by", "Ann Lee", "--reason", "There is no load tonight."))
    assert "The gate of baseline was not verified yet. Run `racwire change verify`" in said


def test_a_second_change_is_refused(rehearsal):
    for node in rehearsal.nodes:
        assert "is still open" in refused(rehearsal.change("new", "--to", "9000", node=node))
    assert len(list(rehearsal.changes.glob("*.change"))) == 1


# --- crashes, and several operators -----------------------------------------------------------------------------------


def test_kill_9_during_a_verification_and_during_notes_leaves_whole_lines(rehearsal):
    before = journal(rehearsal).read_bytes()
    assert rehearsal.change("verify", kill="verifying").code == -9
    assert journal(rehearsal).read_bytes() == before
    for _ in range(5):
        program = f"import os, threading, time; threading.Timer(0.003, os.kill, (os.getpid(), 9)).start(); {_NOTE}"
        assert in_node(rehearsal, program).code in (-9, 0)
    now = journal(rehearsal).read_bytes()
    assert now.startswith(before)
    assert now.endswith(b"\n")
    assert rehearsal.current == "baseline"


def test_of_two_verifications_at_once_each_is_saved_or_says_that_it_is_not(rehearsal):
    operators = [Operator(rehearsal.lab, node, rehearsal.environment) for node in rehearsal.nodes]
    try:
        with ThreadPoolExecutor() as pool:
            results = list(pool.map(lambda one: one.type(["change", "verify"]), operators))
    finally:
        for one in operators:
            one.leave()
    saved = journal(rehearsal).read_text().count('"event":"verified"')
    said = [result.err for result in results if result.code == 64]
    assert saved == 2 - len(said) > 0
    assert all("Another process verified the same step during this verification" in text for text in said)


def test_twelve_notes_at_once_are_all_kept(rehearsal):
    operators = [Operator(rehearsal.lab, rehearsal.nodes[n % 2], rehearsal.environment) for n in range(12)]
    try:
        with ThreadPoolExecutor(12) as pool:
            codes = [r.code for r in pool.map(lambda n: operators[n].type(["change", "note", f"note {n}."]), range(12))]
    finally:
        for one in operators:
            one.leave()
    assert codes == [0] * 12
    text = journal(rehearsal).read_text()
    assert [text.count(f'"note {n}."') for n in range(12)] == [1] * 12
    assert rehearsal.current == "baseline"


# --- the file ---------------------------------------------------------------------------------------------------------


def in_node(rehearsal: Rehearsal, program: str) -> CommandResult:
    """Run Python on a node."""
    rehearsal.change("list")  # logs the operator in
    return rehearsal._operators["rac1"].run(program)


def test_on_a_full_disk_nothing_is_written_and_this_is_said(rehearsal):
    before = journal(rehearsal).read_bytes()
    result = in_node(rehearsal, f"{_FULL.format(len(before) + 10)}; {_NOTE}")
    assert "could not be written" in refused(result)
    assert "the last event was not saved. Fix this first." in result.err
    assert journal(rehearsal).read_bytes() == before


def test_an_immutable_journal_is_named(rehearsal):
    path = journal(rehearsal)
    if subprocess.run(["chattr", "+i", path], capture_output=True, check=False).returncode:
        pytest.skip("THE IMMUTABLE JOURNAL WAS NOT TESTED: this file system has no such attribute")
    try:
        said = refused(rehearsal.change("note", "the load runs"))
    finally:
        subprocess.run(["chattr", "-i", path], check=True)
    assert "could not be written (Operation not permitted): the last event was not saved. Fix this first." in said


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda data: data.replace(b"Ann Lee", b"Bob Lee"), "does not follow from the line before"),
        (lambda data: data[: data.index(b"\n") // 2], "holds no change: its first line is missing"),
        (lambda data: data[:200] + b"\x00\xff" + data[202:], "Line 1 of"),
        (lambda data: data.replace(b"\n", b"\n{garbled\n", 1), "is damaged, or written by a newer racwire"),
        (lambda data: b"", "holds no change: its first line is missing"),
    ],
    ids=["edited", "cut", "garbled", "a garbled line", "emptied"],
)
def test_a_damaged_journal_is_refused_with_the_line(rehearsal, damage, said):
    assert rehearsal.change("note", "the load runs").code == 0  # a line after the one that is edited
    path = journal(rehearsal)
    path.write_bytes(damage(path.read_bytes()))
    damaged = path.read_bytes()
    for words in (("status",), ("verify",), ("note", "another one")):
        assert said in refused(rehearsal.change(*words, "--file", str(path)))
    assert path.read_bytes() == damaged


def test_a_line_that_was_cut_at_its_end_is_reported(rehearsal):
    path = journal(rehearsal)
    path.write_bytes(path.read_bytes() + b'{"number":3,"at":"2026')
    assert "incomplete" in rehearsal.change("status").err
    assert rehearsal.change("note", "the load runs").code == 0
    assert "incomplete" in rehearsal.change("report").out


def test_lines_cut_off_the_end_are_found_by_the_hash_on_another_node(rehearsal):
    """The directory of the journals is not shared here: the printed command stores the hash on rac2."""
    own = ("--directory", "/var/tmp/attacked")
    path = rehearsal.change("status", "--format", "json").document["journal"]
    rehearsal.inside("rac1", ["mkdir -p /var/tmp/attacked", f"cp {path} /var/tmp/attacked/"])
    copy = f"/var/tmp/attacked/{Path(path).name}"
    assert rehearsal.change(*own, "note", "this line disappears").code == 0
    commands = rehearsal.change(*own, "report", "--format", "json").document["store_hash"]
    assert commands
    (line,) = [shlex.split(command)[2] for command in commands]
    rehearsal.inside("rac2", [line])
    rehearsal.inside("rac1", [f"sed -i '$d' {copy}"])
    verified = rehearsal.change(*own, "verify", "--format", "json").document
    assert any("its end is missing" in waited for waited in waiting(verified)), verified


def test_a_clock_that_was_set_to_2020_to_2031_and_back_is_remarked_on(rehearsal):
    for year in (2020, 2031):
        program = f"{_AT.format(f'{year}-01-01T00:00:00.000+00:00')}; {_NOTE}"
        assert in_node(rehearsal, program).code == 0
    assert rehearsal.change("note", "the clock is right again").code == 0
    report = rehearsal.change("report").out
    assert report.count("clock") >= 3, report
    assert rehearsal.current == "baseline"
