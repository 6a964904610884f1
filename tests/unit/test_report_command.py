"""`racwire report` and `check --from`: the targets of each format, and the text about a saved state."""

import io
import json
import os
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from checks.diagnosis.diagnose import diagnose
from checks.model.exit_codes import ExitCode
from checks.report.json_report import from_json, to_json
from checks.rules.fitting_steps import with_fitting_steps
from checks.traffic.recording import RecordingError
from tests.fixtures.reports import black_hole, report_of
from tests.support.full_disk import full_disk
from tests.unit.saved_support import judged_here, saved
from tui.cli import report as report_command
from tui.cli.main import main
from tui.cli.report_formats import FORMATS, Format

FIRST = str(Path(__file__).parents[1] / "fixtures" / "saved" / "first.racwire")
SAVED_STATE = f"racwire: {FIRST} was saved by racwire 1.2.3: the state of 2026-11-20 14:02:31 +01:00, "


class Terminal(io.TextIOWrapper):
    """A stdout that is a terminal."""

    def __init__(self):
        super().__init__(io.BytesIO(), encoding="utf-8")

    def isatty(self):
        return True


def test_check_of_a_saved_file_shows_the_findings_and_that_the_state_is_saved(capsys):
    assert main(["check", "--from", FIRST]) == ExitCode.FAILURES
    out, err = capsys.readouterr()
    assert "Jumbo frames vanish on 192.168.11.0/24 between rac1 and rac2" in out
    assert "SAVED STATE" in out
    assert err.startswith(SAVED_STATE)
    assert err.endswith("; this run reads, queries and sends nothing.\n")


def test_check_of_a_saved_file_as_json_is_the_saved_report(capsys):
    assert main(["check", "--from", FIRST, "--format", "json"]) == ExitCode.FAILURES
    assert from_json(capsys.readouterr().out.encode()) == judged_here(Path(FIRST))


def test_a_json_report_is_accepted_as_a_source(tmp_path, capsys):
    report = report_of(black_hole())
    report = with_fitting_steps(replace(report, diagnosis=diagnose(report.cluster, report.findings)))
    (tmp_path / "r.json").write_bytes(to_json(report))
    assert main(["check", "--from", str(tmp_path / "r.json"), "--format", "json"]) == ExitCode.FAILURES
    assert replace(from_json(capsys.readouterr().out.encode()), saved_at="") == report


def test_single_checks_of_a_saved_file_can_be_selected(capsys):
    assert main(["check", "--from", FIRST, "clusterware", "--format", "json"]) == ExitCode.PASS
    assert {f["check"] for f in json.loads(capsys.readouterr().out)["findings"]} == {"clusterware"}
    assert main(["check", "--from", FIRST, "--skip", "df-ping", "--format", "json"]) == ExitCode.PASS
    assert "df-ping" not in {f["check"] for f in json.loads(capsys.readouterr().out)["findings"]}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["no-such-check"], "There is no check 'no-such-check'; the checks are address-owners, "),
        (["gc-blocks-lost"], "The saved file has no findings of gc-blocks-lost; it has findings of "),
        (["df-ping", "--skip", "df-ping"], "No check is left: --skip names all of them."),
    ],
)
def test_checks_missing_from_the_file_are_reported(words, message, capsys):
    assert main(["check", "--from", FIRST, *words]) == ExitCode.USAGE
    assert message in capsys.readouterr().err


def test_a_missing_lab_is_not_needed_and_unused_options_are_reported(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("RACWIRE_LAB_DIR", str(tmp_path / "none"))
    assert main(["check", "--lab", "--peer", "rac9", "--awr", "--from", FIRST]) == ExitCode.FAILURES
    assert f"--lab, --peer and --awr: ignored, because the evidence comes from {FIRST}.\n" in capsys.readouterr().err


def test_no_password_is_requested(monkeypatch, capsys):
    monkeypatch.setattr("tui.cli.password._prompted", lambda _: pytest.fail("it asked"))
    assert main(["--connect", "h/p", "--user", "u", "check", "--from", FIRST]) == ExitCode.FAILURES


def test_other_settings_apply_if_they_are_named(tmp_path, monkeypatch, capsys):
    waives = tmp_path / "s.toml"
    waives.write_text(
        '[[waivers]]\ncode = "IC-PATH-003"\nsubject = "*"\nreason = "known"\nby = "Ann Lee"\n'
        'expires = 2026-11-30\nstatus = "FAIL"\n'
    )
    assert main(["check", "--from", FIRST, "--settings", str(waives)]) == ExitCode.PASS
    monkeypatch.setenv("RACWIRE_SETTINGS", str(waives))
    assert main(["check", "--from", FIRST]) == ExitCode.FAILURES


def test_a_check_that_is_not_installed_keeps_its_findings_with_a_message(tmp_path, capsys):
    report = report_of(black_hole())
    findings = tuple(replace(f, check="acme-links" if f.check == "interfaces" else f.check) for f in report.findings)
    path = saved(tmp_path, replace(report, findings=findings))
    main(["check", "--from", str(path), "--format", "json"])
    out, err = capsys.readouterr()
    assert json.loads(out)["findings"] == json.loads(to_json(replace(report, findings=findings)))["findings"]
    assert "The findings of acme-links are those of the saved file: the check is not installed here.\n" in err


# --- formats ---------------------------------------------------------------------------------------------------------


def test_the_help_lists_the_available_formats(capsys):
    with pytest.raises(SystemExit):
        main(["report", "--help"])
    lines = [line.split(maxsplit=2) for line in capsys.readouterr().out.splitlines()]
    assert all([form.name, form.ending, form.what] in lines for form in FORMATS.values())


@pytest.mark.parametrize("command", ["check", "report", "save"])
def test_the_help_of_each_command_explains_its_exit_codes(command, capsys):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    output = " ".join(capsys.readouterr().out.split())
    assert "0 pass, 1 warnings, 2 failures, 3 could not tell, or the " in output
    assert "could not be written; 64 usage; 130 interrupted" in output


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_the_same_on_stdout_and_in_a_file(name, tmp_path, capfdbinary):
    assert main(["report", "--from", FIRST, "--format", name]) == ExitCode.FAILURES
    printed = capfdbinary.readouterr().out
    path = tmp_path / f"r{FORMATS[name].ending}"
    assert main(["report", "--from", FIRST, "-o", str(path)]) == ExitCode.FAILURES
    assert f"the report is in {path}." in capfdbinary.readouterr().err.decode()
    assert printed
    assert len(path.read_bytes()) == pytest.approx(len(printed), abs=20)  # the age in it grows
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_format_comes_from_the_option_then_the_file_name_then_text(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    main(["report", "--from", FIRST, "--format", "json", "-o", "a.txt"])
    assert from_json((tmp_path / "a.txt").read_bytes())
    main(["report", "--from", FIRST, "-o", "report"])
    assert (tmp_path / "report").read_text().startswith("racwire 1.2.3  prodrac")
    assert main(["report", "--from", FIRST, "-o", "a.pdf"]) == ExitCode.USAGE
    assert "a.pdf ends like no format (.txt, " in capsys.readouterr().err
    assert not (tmp_path / "a.pdf").exists()


def test_no_file_is_overwritten_without_a_request(tmp_path, capsys):
    path = tmp_path / "r.md"
    path.write_text("mine")
    assert main(["report", "--from", FIRST, "-o", str(path)]) == ExitCode.USAGE
    assert path.read_text() == "mine"
    assert "already there" in capsys.readouterr().err
    assert main(["report", "--from", FIRST, "-o", str(path), "--force"]) == ExitCode.FAILURES
    assert path.read_text() != "mine"


def test_html_is_not_printed_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdout", Terminal())
    assert main(["report", "--from", FIRST, "--format", "html"]) == ExitCode.USAGE
    assert capsys.readouterr().err == (
        "racwire: HTML cannot be printed on a terminal; add -o report.html, or redirect stdout to a file.\n"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--from", FIRST, "-o", "x.html", "--record", "5s"], "--record: a saved file cannot be recorded again"),
        (["--format", "junit", "--record", "5s"], "--record: the junit format contains no traffic"),
        (["--format", "html", "--record", "soon"], "--record: 'soon' is not a time"),
    ],
)
def test_an_impossible_recording_is_reported_before_anything_runs(words, message, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["report", *words]) == ExitCode.USAGE
    assert message in capsys.readouterr().err
    assert os.listdir(tmp_path) == []


def test_recording_0_s_is_valid_in_a_format_without_traffic(capsys):
    assert main(["report", "--from", FIRST, "--format", "junit", "--record", "0s"]) == ExitCode.FAILURES
    assert "<testsuites" in capsys.readouterr().out


def test_a_full_disk_does_not_lose_the_report(tmp_path, capsys):
    with full_disk():
        code = main(["report", "--from", FIRST, "--format", "json", "-o", str(tmp_path / "a")])
    out, err = capsys.readouterr()
    assert code == ExitCode.COULD_NOT_TELL
    assert from_json(out.encode()).findings
    assert err.endswith("File too large; no file was left. The report was printed instead.\n")


def test_an_unwritable_page_is_written_to_another_file_and_not_to_the_terminal(tmp_path, monkeypatch, capsys):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    place = tmp_path / "gone" / "page.html"
    place.parent.mkdir()

    def prepare(*_args):
        place.parent.rmdir()
        return prepared(*_args)

    prepared = report_command._handout
    monkeypatch.setattr(report_command, "_handout", prepare)
    assert main(["report", "--from", FIRST, "--format", "html", "-o", str(place)]) == ExitCode.COULD_NOT_TELL
    (written,) = (tmp_path / "state" / "racwire").iterdir()
    assert written.suffix == ".html"
    assert written.read_text().startswith("<!DOCTYPE html>")
    assert written.stat().st_mode & 0o777 == 0o600
    assert terminal.buffer.getvalue() == b""
    assert capsys.readouterr().err.endswith(f"No such file or directory. The report is in {written} instead.\n")


def test_an_unwritable_text_is_printed_with_the_reason_below_it(tmp_path, monkeypatch):
    both = Terminal()
    monkeypatch.setattr(sys, "stdout", both)
    monkeypatch.setattr(sys, "stderr", both)
    with full_disk():
        assert main(["report", "--from", FIRST, "-o", str(tmp_path / "a.txt")]) == ExitCode.COULD_NOT_TELL
    lines = both.buffer.getvalue().decode().splitlines()
    assert any("prodrac" in line for line in lines)
    assert lines[-1] == (
        f"racwire: {tmp_path}/a.txt could not be written: File too large; no file was left. The report was printed "
        "instead."
    )


def test_another_user_can_be_allowed_to_read_the_report(tmp_path, capsys):
    assert main(["report", "--from", FIRST, "-o", str(tmp_path / "a.txt"), "--mode", "0644"]) == ExitCode.FAILURES
    assert (tmp_path / "a.txt").stat().st_mode & 0o777 == 0o644
    for refused in ("0777", "0666", "644x", "4755", "0400"):
        with pytest.raises(SystemExit, match=str(int(ExitCode.USAGE))):
            main(["report", "--from", FIRST, "-o", str(tmp_path / "b"), "--mode", refused])
    assert "use 0600, 0640 or 0644" in capsys.readouterr().err


def test_an_unreadable_recording_does_not_affect_the_report(monkeypatch, capfd):
    def write(evidence):
        if evidence.track is not None:
            raise RecordingError("The recording is damaged.")
        return b"without it"

    monkeypatch.setitem(FORMATS, "html", Format("html", ".html", "?", write))
    assert main(["report", "--from", FIRST, "--format", "html"]) == ExitCode.FAILURES
    out, err = capfd.readouterr()
    assert out == "without it"
    assert "The recording is damaged. The report does not contain the traffic.\n" in err


def test_a_file_that_is_not_a_saved_file_is_one_sentence(tmp_path, capsys):
    (tmp_path / "x").write_text("?")
    assert main(["report", "--from", str(tmp_path / "x")]) == ExitCode.USAGE
    assert capsys.readouterr().err == (
        f"racwire: {tmp_path / 'x'} is no saved file of racwire; `racwire save FILE` writes one.\n"
    )
