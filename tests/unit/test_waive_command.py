"""`racwire waive`: a waiver for the settings file, made from a finding of a report."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.finding import Finding, Magnitude, Status, Waived
from checks.model.report import Report
from checks.report.json_report import to_json
from checks.rules.waivers import apply
from checks.run.check_discovery import known_codes
from checks.run.settings_file import parse_settings
from tests.fixtures.clusters import cluster
from tests.fixtures.reports import report_of
from tui.cli.main import main
from tui.cli.waiving import _block, _pattern

SOON = (date.today() + timedelta(days=30)).isoformat()
LOST = Finding(
    code="IC-LOST-002",
    check="gc-blocks-lost",
    status=Status.FAIL,
    title="?",
    subject="prod2: 37 in 30 s",
    nodes=("rac2", "rac1"),
    extent=Magnitude(0.298, "% lost of the blocks sent"),
)
BOOT = Finding(code="IC-BOOT-002", check="boot-mtu", status=Status.WARN, title="?", subject="eth1 rac1: 9000 -> 1500")
OTHER = msgspec.structs.replace(BOOT, subject="eth2 rac2: 9000 -> 1500", nodes=("rac2",))


def waive(directory: Path, code: str, *options: str, report: Report | None = None) -> int:
    """Waive a finding of that report."""
    file = directory / "now.json"
    made = report or msgspec.structs.replace(report_of(cluster(2)), findings=(LOST, BOOT, OTHER))
    file.write_bytes(to_json(made))
    given_options = {"--from": str(file), "--reason": "until the window", "--by": "Ann Lee", "--until": SOON}
    given_options |= dict(zip(options[::2], options[1::2], strict=True))
    return main(["waive", code, *(word for pair in given_options.items() for word in pair)])


def test_the_command_prints_the_settings_and_says_where_they_belong(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("RACWIRE_SETTINGS", "/etc/racwire.toml")
    assert waive(tmp_path, "IC-LOST-002") == 0
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "[[waivers]]",
        'code = "IC-LOST-002"',
        'subject = "prod2: * in * s"',
        'reason = "until the window"',
        'by = "Ann Lee"',
        f"expires = {SOON}",
        'status = "FAIL"',
        "extent = 0.6  # measured 0.298 % lost of the blocks sent; the waiver ends above 0.6; stricter: less",
        'nodes = ["rac2", "rac1"]',
    ]
    assert "append this to the settings file (/etc/racwire.toml)" in err
    assert "with --from FILE, this waiver applies only together with --settings" in err
    assert "measured: 0.298 % lost of the blocks sent; the waiver ends above 0.6, since" in err
    (waiver,) = parse_settings(out, "settings.toml").waivers
    (marked,) = apply([LOST], [waiver], date.today(), {}, known_codes)[0]
    assert marked.waived is not None


def test_a_count_is_waived_exactly(tmp_path, capsys):
    paths = msgspec.structs.replace(LOST, extent=Magnitude(2, "paths"))
    assert waive(tmp_path, "IC-LOST-002", report=msgspec.structs.replace(report_of(cluster(2)), findings=(paths,))) == 0
    out, err = capsys.readouterr()
    assert "extent = 2  # paths: above that, the waiver ends\n" in out
    assert "found at" not in err


def test_numbers_in_a_subject_are_not_changed(tmp_path, capsys):
    assert waive(tmp_path, "IC-BOOT-002", "--subject", "eth1 rac1: 9000 -> 1500") == 0
    assert 'subject = "eth1 rac1: 9000 -> 1500"' in capsys.readouterr().out


def test_of_several_findings_one_must_be_chosen_or_all_with_a_star(tmp_path, capsys):
    assert waive(tmp_path, "IC-BOOT-002") == 64
    stderr = capsys.readouterr().err
    assert 'has 2 findings IC-BOOT-002; choose one by --subject: "eth1 rac1: 9000 -> 1500" and "eth2 rac2:' in stderr
    assert waive(tmp_path, "IC-BOOT-002", "--subject", "eth*") == 0
    out = capsys.readouterr().out
    assert 'subject = "eth*"' in out
    assert "nodes" not in out, "one of them names no node, so that nodes cannot say how far it spread"


@pytest.mark.parametrize(
    ("code", "options", "sentence"),
    [
        ("IC-BOOT-009", (), "has no finding IC-BOOT-009; it has IC-LOST-002 and IC-BOOT-002."),
        ("IC-LOST-002", ("--subject", "prod1"), "has no subject 'prod1'; its subjects: \"prod2: 37 in 30 s\"."),
        ("IC-LOST-002", ("--until", "2020-01-31"), "--until 2020-01-31 is in the past; name today or a later day."),
        (
            "IC-LOST-002",
            ("--until", "9999-01-31"),
            "--until 9999-01-31 is more than 366 days ahead; name an earlier day, and renew the waiver then.",
        ),
        ("IC-LOST-002", ("--until", "soon"), "--until needs a date such as 2027-01-31; 'soon' is not one."),
        ("IC-LOST-002", ("--reason", " "), "--reason needs printable text of at most 500 characters."),
        ("IC-LOST-002", ("--by", "\x1b[2J"), "--by needs printable text of at most 100 characters."),
        ("IC-LOST-002", ("--from", "/nowhere.json"), "/nowhere.json"),
    ],
)
def test_an_impossible_waiver_is_one_sentence_without_output(tmp_path, capsys, code, options, sentence):
    assert waive(tmp_path, code, *options) == 64
    out, err = capsys.readouterr()
    assert out == ""
    assert sentence in err
    assert err.count("\n") == 1


def test_a_waiver_that_the_settings_refuse_is_not_printed(tmp_path, capsys):
    odd = msgspec.structs.replace(report_of(cluster(2)), findings=(msgspec.structs.replace(BOOT, code="my code"),))
    assert waive(tmp_path, "my code", report=odd) == 64
    out, err = capsys.readouterr()
    assert out == ""
    assert "'my code' is not the code of a finding" in err


def test_a_passed_finding_needs_no_waiver(tmp_path, capsys):
    assert waive(tmp_path, "IC-PATH-001", report=report_of(cluster(2))) == 64
    assert "IC-PATH-001 is PASS" in capsys.readouterr().err


def test_pseudonyms_are_refused_and_an_existing_waiver_is_mentioned(tmp_path, capsys):
    base = msgspec.structs.replace(report_of(cluster(2)), findings=(LOST,))
    assert waive(tmp_path, "IC-LOST-002", report=msgspec.structs.replace(base, is_redacted=True)) == 64
    assert "has pseudonyms" in capsys.readouterr().err
    held = msgspec.structs.replace(LOST, waived=Waived("?", "Ann Lee", SOON))
    assert waive(tmp_path, "IC-LOST-002", report=msgspec.structs.replace(base, findings=(held,))) == 0
    assert "replace it by this one" in capsys.readouterr().err


texts = st.text(max_size=30) | st.text("a1 *?[]\"'\\\n\x1b\x7f:,.", max_size=30)


@given(
    texts.map(lambda t: t.strip()),
    st.sampled_from([Status.WARN, Status.FAIL, Status.UNKNOWN]),
    st.none()
    | st.builds(Magnitude, st.floats(0, 1e9), st.sampled_from(["paths", "% of packets lost", "ms \n on average"])),
    st.lists(texts, max_size=3),
)
def test_the_waiver_of_any_finding_is_valid_and_covers_it(subject, status, extent, nodes):
    found = msgspec.structs.replace(LOST, subject=subject, status=status, extent=extent, nodes=tuple(nodes))
    block = _block([found], _pattern(found), 'the "window"', "Ann", date(2026, 1, 31))
    (waiver,) = parse_settings(block, "settings.toml").waivers
    (marked,) = apply([found], [waiver], date(2026, 1, 1), {}, known_codes)[0]
    assert marked.waived is not None
