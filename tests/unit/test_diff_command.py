"""`racwire diff A B`: its output and its exit codes."""

from __future__ import annotations

import io
import json
from pathlib import Path

import msgspec
import pytest

from checks.model.facts import Verdict
from checks.model.finding import Finding, Magnitude, Status, Waived
from checks.model.report import Report
from checks.report.diff import diff
from checks.report.json_report import to_json
from tests.fixtures.clusters import cluster, path, with_paths
from tests.fixtures.reports import black_hole, report_of
from tui.cli.diff_text import diff_text
from tui.cli.main import main

WELL = report_of(cluster(3))
HOLE = msgspec.structs.replace(report_of(black_hole(3)), started_at="2026-11-21T09:00:00.000+01:00")


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """Return a healthy report, and a later one of a black hole."""
    names = (tmp_path / "well.json", tmp_path / "hole.json")
    for name, report in zip(names, (WELL, HOLE), strict=True):
        name.write_bytes(to_json(report))
    return str(names[0]), str(names[1])


def text(before: Report, after: Report) -> str:
    return " ".join(diff_text(diff(before, after), io.StringIO()).split())


def finding(status: Status = Status.WARN, **more: object) -> Finding:
    facts = {"code": "T-1", "check": "t", "status": status, "title": "Something is so.", "nodes": ["rac1"], **more}
    return msgspec.convert(facts, Finding)


def of(*findings: Finding) -> Report:
    return msgspec.structs.replace(WELL, findings=findings)


def test_the_exit_code_says_whether_anything_is_worse(files, capsys):
    well, hole = files
    assert main(["diff", well, well]) == 0
    assert main(["diff", well, hole]) == 2
    assert main(["diff", hole, well]) == 0
    assert "B is older" not in capsys.readouterr().out


def test_the_output_names_both_reports_and_the_worse_findings(files, capsys):
    well, hole = files
    main(["diff", well, hole])
    out, err = capsys.readouterr()
    output = " ".join(out.split())
    assert err == ""
    assert output.startswith("Worse: 1 failure is new.")
    assert output.index(f"BEFORE {well}, prodrac, 2026-11-20") < output.index(f"AFTER {hole}, prodrac, 2026-11-21")
    assert "New: 1 FAIL IC-PATH-003 df-ping Jumbo frames vanish on 192.168.11.0/24 between rac1 and rac2" in output
    assert "Paths 192.168.11.0/24 rac1 -> rac2 and 192.168.11.0/24 rac2 -> rac1: passes (9000 bytes)" in output
    assert "Same: " in output


def test_json_is_written_to_its_own_file_completely_or_not_at_all(files, tmp_path, capsys):
    out = tmp_path / "diff.json"
    assert main(["diff", *files, "--format", "json", "-o", str(out)]) == 2
    assert json.loads(out.read_bytes())["schema"] == "racwire-diff/1"
    assert out.stat().st_mode & 0o777 == 0o600
    assert main(["diff", *files, "-o", str(out)]) == 64
    assert "already there" in capsys.readouterr().err


@pytest.mark.parametrize("content", [b"", b"{}", b"PK\x03\x04", b"SQLite format 3\0", b"\xff" * 100])
def test_a_file_that_is_not_a_report_is_one_sentence(files, tmp_path, capsys, content):
    other = tmp_path / "other"
    other.write_bytes(content)
    assert main(["diff", files[0], str(other)]) == 64
    out, err = capsys.readouterr()
    assert out == ""
    assert str(other) in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (finding(), finding(Status.FAIL), "Worse: 1 FAIL T-1 t Something is so. Was WARN"),
        (finding(Status.FAIL), finding(), "Better: 1 WARN T-1 t Something is so. Was FAIL"),
        (
            finding(extent=Magnitude(0.5, "% of packets lost")),
            finding(extent=Magnitude(2.5, "% of packets lost")),
            "Worse: 1 WARN T-1 t Something is so. Was 0.5 % of packets lost, is 2.5 % of packets lost",
        ),
        (finding(), finding(nodes=["rac1", "rac2"]), "Something is so. Also on rac2"),
        (finding(nodes=["rac1", "rac2"]), finding(), "Something is so. No longer on rac2"),
        (
            finding(),
            finding(waived=Waived("known", "Ann Lee", "2027-01-31")),
            "Better: 1 WARN T-1 t Something is so. Waived until 2027-01-31 by Ann Lee: known",
        ),
        (
            finding(waived=Waived("known", "Ann Lee", "2027-01-31")),
            finding(),
            "Worse: 1 WARN T-1 t Something is so. Was waived until 2027-01-31 by Ann Lee",
        ),
        (finding(), finding(Status.UNKNOWN), "No longer known: 1 UNKNOWN T-1 t Something is so. Was WARN"),
        (finding(Status.UNKNOWN), finding(), "New: 1 WARN T-1 t Something is so. Was UNKNOWN"),
    ],
)
def test_each_change_has_its_heading_and_its_earlier_state(before, after, expected):
    assert expected in text(of(before), of(after))


def test_a_finding_of_a_check_that_did_not_run_is_neither_gone_nor_new():
    assert "Not compared: 1 WARN T-1 t Something is so. Its check is not part of the later run." in text(
        of(finding()), of()
    )
    assert "Its check is not part of the earlier run." in text(of(), of(finding()))


def test_equal_reports_are_reported_as_equal():
    assert text(WELL, WELL).startswith("Nothing is worse or better. BEFORE")
    assert text(WELL, WELL).endswith(f" Same: {len(WELL.findings)}.")
    assert text(of(finding()), of(finding())).endswith(" Same: 1, 1 of them a problem.")


def test_a_remaining_warning_names_the_earlier_failure():
    left = finding(code="T-9", title="Something was so.")
    output = text(of(finding(Status.FAIL)), of(left))
    assert output.startswith("Better: 1 failure is gone, 1 warning is left.")
    assert "Better: 1 WARN T-9 t Something was so. Was FAIL T-1: Something is so." in output


def test_pseudonyms_are_not_reported_as_other_nodes():
    renamed = msgspec.structs.replace(of(finding(Status.FAIL, nodes=["node-1"])), is_redacted=True)
    output = text(of(finding()), renamed)
    assert "Was WARN" in output
    assert "node-1" not in output
    assert "o longer on" not in output


def test_equal_changes_of_facts_share_a_line_and_many_are_truncated():
    base = cluster(6)
    network = base.networks[0]
    ports = [p.node for p in network.ports]
    ways = [(a, b) for a in ports for b in ports if a != b]
    alike = with_paths(base, *(path(network, a, b, Verdict.UNREACHABLE) for a, b in ways))
    assert "and 27 more: passes (9000 bytes) > unreachable" in text(report_of(base), report_of(alike))
    apart = with_paths(base, *(path(network, *way, Verdict.TOO_BIG, path_mtu=1500 + n) for n, way in enumerate(ways)))
    assert "and 18 more (--format json)" in text(report_of(base), report_of(apart))


def test_hostile_names_are_escaped():
    evil = finding(code="T\x1b[31m", check="t\r", title="\x1b[2J[bold red]\u202e", nodes=["rac\x07"])
    shown = diff_text(diff(of(), of(evil), ("\x1b]0;a\x07", "b\r")), io.StringIO())
    assert not any(sign in shown for sign in "\x1b\x07\u202e\r")
    assert "[bold red]" in shown
