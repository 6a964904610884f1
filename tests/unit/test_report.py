"""The report: one object, and the forms it is written in."""

import io
import os
from pathlib import Path

import hypothesis.strategies as st
import msgspec
import pytest
from hypothesis import given

from checks import whole_files
from checks.model.check import Kind
from checks.model.facts import UnaskedInstance, Unknown
from checks.model.finding import Finding, NextStep, Status
from checks.model.report import Report
from checks.whole_files import OutputError, OutputFile, write_whole
from tests.fixtures.clusters import cluster
from tests.fixtures.databases import asked, change, counters, database, losing
from tests.fixtures.reports import black_hole, report_of
from tui.cli.streams import print_message
from tui.cli.text_report import text_report
from tui.text.sanitize import for_encoding, sanitize_lines


def text(report: Report) -> str:
    return text_report(report, io.StringIO(), full=True)


def test_the_full_text_has_the_worst_first_with_seen_expected_next_and_why():
    shown = text(report_of(black_hole()))
    lines = shown.splitlines()
    assert lines[0].startswith("racwire 1.2.3  prodrac  rac1* rac2  2026-11-20 14:02:31 +01:00  1.2 s")
    assert lines[1].startswith("1 FAIL")
    assert lines[3].startswith("FAIL    IC-PATH-003  df-ping")
    whole = shown[shown.index("FAIL    IC-PATH-003  df-ping") :]
    order = [whole.index(word) for word in ("Seen", "Expected", "Next", "CHANGE", "Why", "Sources", "PASS  ")]
    assert order == sorted(order)
    assert max(map(len, lines)) <= 120


def test_the_text_names_the_queried_database_the_user_and_the_mode():
    lines = text(report_of(asked(2))).splitlines()
    assert lines[1] == "database PROD 19.22.0.0.0  PRIMARY  as RACWIRE  python-oracledb 26.1.0, thin  2 instances"
    assert not any(line.startswith("database") for line in text(report_of(cluster(2))).splitlines())


def test_the_text_shows_unusual_properties_of_the_database_within_the_width():
    unusual = database(
        1,
        role="PHYSICAL STANDBY",
        open_mode="READ ONLY WITH APPLY",
        is_multitenant=True,
        container="CDB$ROOT",
        user="SYS\x1b[2J",
        driver="python-oracledb 26.1.0, thick with Oracle client 19.22 (OS authentication)",
        unasked=(UnaskedInstance(2, "prod2", "it hangs"),),
    )
    shown = text(report_of(asked(2, database=unusual)))
    header = " ".join(shown.split("\n\n")[0].split())
    assert "PHYSICAL STANDBY READ ONLY WITH APPLY CDB$ROOT as SYS" in header
    assert "thick with Oracle client 19.22 (OS authentication) 1 of 2 instances" in header
    assert "\x1b" not in shown
    assert all(len(line) <= 100 for line in shown.splitlines()[:4])


def test_a_pipe_gets_no_escape_sequences():
    assert "\x1b" not in text(report_of(black_hole()))


def test_hostile_names_are_escaped():
    built = msgspec.structs.replace(cluster(2), local_node="rac1")
    evil = "rac2\x1b]0;owned\x07\x1b[2J[bold red]"
    nodes = tuple(msgspec.structs.replace(n, name=evil if n.name == "rac2" else n.name) for n in built.nodes)
    shown = text(report_of(msgspec.structs.replace(built, nodes=nodes)))
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert "[bold red]" in shown


def test_names_and_commands_never_begin_a_line_of_their_own():
    named = msgspec.structs.replace(database(), name="prod\nFAIL")
    step = NextStep("Look:", where="rac1", commands=("ip link\nFAIL",))
    found = Finding(check="t", code="T-1", status=Status.FAIL, title="x", next=(step,))
    report = report_of(msgspec.structs.replace(cluster(2), database=named))
    report = msgspec.structs.replace(report, racwire_version="1\nFAIL", findings=(found,))
    assert [line for line in text(report).splitlines() if line.startswith("FAIL")] == ["FAIL    T-1  t"]


def test_a_sentence_on_stderr_is_one_line_whatever_it_contains(capsys):
    print_message("saved by racwire x\nracwire: everything passed\u2028\x1b[2J")
    assert capsys.readouterr().err == "racwire: saved by racwire x\\x0aracwire: everything passed\\x2028\\x1b[2J\n"


@given(st.text())
def test_printable_text_has_no_control_characters(anything):
    assert not [c for c in sanitize_lines(anything) if (ord(c) < 32 and c != "\n") or 0x7F <= ord(c) < 0xA0]


def test_drawn_characters_become_plain_if_the_stream_is_not_unicode():
    assert for_encoding("rac1 → rac2 · 9000", "ascii") == "rac1 > rac2 . 9000"
    assert for_encoding("rac1 → rac2 · 9000", "UTF-8") == "rac1 → rac2 · 9000"


def test_an_interrupted_report_is_marked():
    assert "Interrupted: the report contains the findings up to then." in text(report_of(cluster(2), interrupted=True))


def test_findings_on_the_same_network_are_linked():
    report = report_of(black_hole())
    finding = next(f for f in report.findings if f.status is Status.FAIL)
    assert all(other.network == finding.network for other in report.joined_with(finding))


def test_losses_of_instances_are_linked_with_network_problems_of_their_nodes():
    report = report_of(
        asked(
            black_hole(3),
            activity=losing(2, 37, {1: 37}, 3),
            counters=counters(3, change("rac2", Ip_ReasmFails=9), change("rac3", Udp_RcvbufErrors=9)),
        )
    )
    problems = {f.check: f for f in report.findings if f.status in (Status.FAIL, Status.WARN)}
    assert set(problems) == {"df-ping", "gc-blocks-lost", "reassembly", "udp-receive-buffers"}

    def joined(check):
        return {f.check for f in report.joined_with(problems[check])}

    assert joined("gc-blocks-lost") == {"df-ping", "reassembly"}
    assert joined("df-ping") == {"gc-blocks-lost", "reassembly"}
    assert joined("udp-receive-buffers") == set()


def test_links_between_findings_are_mutual_and_only_among_problems():
    kind = Kind("T-JOIN-001", "?")

    def finding(status, network, nodes):
        return kind.finding("?", status=status, subject=f"{status} {network} {nodes}", network=network, nodes=nodes)

    places = [("", []), ("", ["rac1"]), ("", ["rac2"]), ("192.168.10.0/24", []), ("192.168.11.0/24", ["rac1"])]
    findings = [finding(s, *place) for s in (Status.FAIL, Status.WARN, Status.PASS, Status.INFO) for place in places]
    report = msgspec.structs.replace(report_of(cluster(2)), findings=tuple(findings))
    joined = {f.subject: {o.subject for o in report.joined_with(f)} for f in findings}
    assert all(one in joined[other] for one, others in joined.items() for other in others)
    assert joined["PASS 192.168.10.0/24 []"] == set()
    assert joined["FAIL  []"] == set()
    assert "WARN  ['rac2']" in joined["FAIL 192.168.10.0/24 []"]
    assert "WARN 192.168.11.0/24 ['rac1']" not in joined["FAIL 192.168.10.0/24 []"]


def test_a_file_is_written_completely_with_mode_0600_and_never_over_another(tmp_path):
    path = tmp_path / "report.txt"
    write_whole(OutputFile(path), b"one")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"one", 0o600)
    with pytest.raises(OutputError, match="already exists"):
        write_whole(OutputFile(path), b"two")
    write_whole(OutputFile(path, replace=True), b"two")
    assert path.read_bytes() == b"two"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_write_is_one_sentence_and_leaves_no_file(tmp_path):
    with pytest.raises(OutputError, match="No such file or directory"):
        write_whole(OutputFile(tmp_path / "nowhere" / "report.txt"), b"x")
    assert list(tmp_path.iterdir()) == []


def test_a_file_has_the_mode_that_was_asked_for(tmp_path):
    write_whole(OutputFile(tmp_path / "a", mode=0o640), b"x")
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640


def test_devices_and_pipes_are_not_written_to(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (Path("/dev/full"), Path("/dev/null"), tmp_path / "pipe", tmp_path):
        with pytest.raises(OutputError, match=r"is not a regular file: name another one, or redirect the output"):
            write_whole(OutputFile(path, replace=True), b"x")
    assert (tmp_path / "pipe").is_fifo()


def test_an_own_link_is_followed_and_stays_a_link(tmp_path):
    (tmp_path / "d").mkdir()
    (tmp_path / "link").symlink_to("d/new.txt")
    (tmp_path / "up").symlink_to("d")
    write_whole(OutputFile(tmp_path / "link"), b"x")
    write_whole(OutputFile(tmp_path / "up" / "new.txt", replace=True), b"y")
    assert (tmp_path / "d" / "new.txt").read_bytes() == b"y"
    assert (tmp_path / "link").is_symlink()
    with pytest.raises(OutputError, match="already exists"):
        write_whole(OutputFile(tmp_path / "link"), b"x")


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("mode", [0o1777, 0o775, 0o707])
def test_a_link_in_a_directory_of_others_is_not_followed(tmp_path, mode, replace):
    shared, target = tmp_path / "shared", tmp_path / "target"
    shared.mkdir()
    target.write_text("mine")
    (shared / "report.txt").symlink_to(target)
    (shared / "up").symlink_to(tmp_path)
    shared.chmod(mode)
    for path in (shared / "report.txt", shared / "up" / "fresh.txt"):
        with pytest.raises(OutputError, match="is a symbolic link in a directory that other users can write to"):
            write_whole(OutputFile(path, replace=replace), b"x")
    write_whole(OutputFile(shared / "plain.txt"), b"x")
    assert target.read_text() == "mine"
    assert not (tmp_path / "fresh.txt").exists()


def test_a_link_of_another_user_is_not_followed(tmp_path, monkeypatch):
    (tmp_path / "link").symlink_to(tmp_path / "target")
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 4711)
    monkeypatch.setattr(whole_files, "_ROOT", -1)  # the tests may run as root
    with pytest.raises(OutputError, match="is a symbolic link of another user, so it could lead to any file"):
        write_whole(OutputFile(tmp_path / "link"), b"x")
    assert not (tmp_path / "target").exists()


def test_facts_unreadable_for_this_user_are_named():
    built = cluster(2)
    limited = msgspec.structs.replace(
        built.nodes[0], unread=(Unknown("The routes of rac1 could not be read: root could."),)
    )
    shown = text(report_of(msgspec.structs.replace(built, nodes=(limited, built.nodes[1]))))
    assert "Not read  The routes of rac1 could not be read: root could." in shown


def test_a_link_to_itself_is_one_sentence(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OutputError, match="could not be written"):
        write_whole(OutputFile(tmp_path / "loop"), b"x")


def test_undecodable_text_can_be_written():
    text(report_of(msgspec.structs.replace(cluster(2), local_node="rac1\udcff"))).encode()
    for_encoding("\udcff", "utf-8").encode()
