"""`racwire save`: the content of the file, the report about it, and failures to write it."""

import io
import os
import re
import signal
import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from checks.model.exit_codes import ExitCode
from checks.model.finding import Status
from checks.report.json_report import from_json
from checks.saved import open_saved
from checks.traffic.recorder import Recorder
from checks.traffic.recording import Recording
from checks.traffic.recording_runs import RecordedLine
from checks.traffic.samples import Event
from checks.whole_files import OutputError
from tests.unit.recording_support import header
from tests.unit.saved_support import judged_here, members_of, recording, report_in
from tui.cli import saving
from tui.cli.interrupts import STOPPING
from tui.cli.main import main

FIRST = str(Path(__file__).parents[1] / "fixtures" / "saved" / "first.racwire")


@pytest.fixture(autouse=True)
def places(tmp_path_factory, monkeypatch):
    """The working directory, the state directory and the temporary directory, which must be empty at the end."""
    here, state, temporary = (tmp_path_factory.mktemp(name) for name in ("here", "state", "temporary"))
    monkeypatch.chdir(here)
    monkeypatch.setenv("XDG_STATE_HOME", str(state))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    yield here, state, temporary
    assert [name for name in os.listdir(temporary) if not name.endswith(".racwire")] == []


def events_in(path: str) -> list[Event]:
    """All events of the recording in a saved file."""
    with open_saved(Path(path)) as opened:
        assert opened.recording is not None
        return list(opened.recording.events())


def test_a_saved_file_can_be_saved_again_with_its_age(capsys):
    assert main(["save", "--from", FIRST, "b.racwire"]) == ExitCode.FAILURES
    with open_saved(Path("b.racwire")) as second:
        assert second.report == judged_here(Path(FIRST))
    assert events_in("b.racwire") == events_in(FIRST)
    out, err = capsys.readouterr()
    assert out == ""
    assert re.search(
        r"^racwire: b.racwire contains \d checks of rac1 and rac2, and 2 s of traffic: \d+ kB\.$", err, re.M
    )
    assert "racwire: next: racwire open b.racwire, or racwire report --from b.racwire -o report.html\n" in err


def test_a_live_run_runs_the_checks_and_has_their_exit_code(capsys):
    assert main(["save", "here.racwire", "interfaces", "--record", "0s"]) == ExitCode.COULD_NOT_TELL
    with open_saved(Path("here.racwire")) as opened:
        assert {f.check: f.status for f in opened.report.findings} == {"interfaces": Status.UNKNOWN}
        assert opened.recording is None
        assert opened.report.settings["thresholds"]
    assert "here.racwire contains 1 check of " in capsys.readouterr().err


def test_an_earlier_recording_can_be_included(tmp_path):
    before = recording(tmp_path / "before.rec")
    main(["save", "--from", FIRST, "b.racwire", "--recording", str(before)])
    with open_saved(Path("b.racwire")) as opened:
        assert opened.recording is not None
        assert opened.recording.header.label == "mtu1500"
        with closing(Recording.open(before)) as recorded:
            assert opened.recording.tallies() == recorded.tallies()


def test_the_journal_in_a_recording_is_left_out_of_a_redacted_file_with_a_message(tmp_path, capsys):
    with closing(Recorder.create(tmp_path / "a.rec", header())) as recorder:
        recorder.add_journal([RecordedLine(1.0, '"rac1"')])
    for options, is_left_out in (["--redact"], True), ([], False):
        main(["save", "--from", FIRST, "b.racwire", "--force", "--recording", str(tmp_path / "a.rec"), *options])
        assert ("The journal of the change is left out: racwire" in capsys.readouterr().err) is is_left_out
        with open_saved(Path("b.racwire")) as saved:
            assert (saved.recording.journal() == ()) is is_left_out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["b", "--recording", "nowhere.rec"], "--recording: nowhere.rec could not be read: No such file or directory."),
        (["b", "--recording", __file__], "is no recording of racwire"),
        (
            ["b", "--recording", "a.rec", "--record", "5s"],
            "a saved file contains one recording",
        ),
        (["b", "--from", FIRST, "--record", "5s"], "--record: a saved file cannot be recorded again"),
        (["."], "FILE needs the name of a file"),
        (["no/such/directory"], "there is no directory no/such"),
        (["-"], "FILE needs the name of a file."),
        (["there"], "there is already there; name another file, or add --force"),
        (["b", "chekc"], "There is no check 'chekc'"),
    ],
)
def test_an_impossible_request_is_reported_before_anything_runs(words, message, capsys):
    Path("there").write_text("mine")
    assert main(["save", *words]) == ExitCode.USAGE
    assert message in capsys.readouterr().err
    assert os.listdir() == ["there"]
    assert Path("there").read_text() == "mine"


def test_quiet_prints_nothing(capsys):
    main(["save", "-q", "--from", FIRST, "b.racwire"])
    assert capsys.readouterr() == ("", "")


def refuses(*refused: str):
    """A `save` that finds the disk full in these directories."""

    def save(file, report, traffic):
        if any(str(file.path.absolute()).startswith(directory) for directory in refused):
            raise OutputError(f"{file} could not be written: No space left on device; no file was left.")
        original(file, report, traffic)

    original = saving.save
    return save


def test_on_a_full_disk_the_evidence_is_written_to_the_state_directory(places, monkeypatch, capsys):
    here, state, _ = places
    monkeypatch.setattr(saving, "save", refuses(str(here)))
    assert main(["save", "--from", FIRST, "b.racwire"]) == ExitCode.COULD_NOT_TELL
    (written,) = (state / "racwire").iterdir()
    with open_saved(written) as opened:
        assert opened.report == judged_here(Path(FIRST))
        assert opened.recording is not None
    out, err = capsys.readouterr()
    assert out == ""
    assert f"No space left on device; no file was left.\nracwire: The evidence is in {written} instead.\n" in err


def test_where_the_state_directory_is_full_too_the_temporary_directory_is_used(places, monkeypatch, capsys):
    here, state, temporary = places
    monkeypatch.setattr(saving, "save", refuses(str(here), str(state)))
    assert main(["save", "--from", FIRST, "b.racwire"]) == ExitCode.COULD_NOT_TELL
    (written,) = temporary.iterdir()
    assert report_in(written).findings


def test_with_no_space_anywhere_the_report_goes_to_stdout(monkeypatch, capsys):
    monkeypatch.setattr(saving, "save", refuses("/"))
    assert main(["save", "--from", FIRST, "b.racwire"]) == ExitCode.COULD_NOT_TELL
    out, err = capsys.readouterr()
    assert from_json(out.encode()) == judged_here(Path(FIRST))
    assert "the report follows, without the traffic" in err


def test_on_a_terminal_the_report_follows_as_text(monkeypatch, capsys):
    screen = io.StringIO()
    screen.isatty = lambda: True  # type: ignore[method-assign]
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setattr(saving, "save", refuses("/"))
    assert main(["save", "--from", FIRST, "b.racwire"]) == ExitCode.COULD_NOT_TELL
    assert "Jumbo frames vanish" in screen.getvalue()


def test_an_unusable_recording_does_not_affect_the_rest(tmp_path, monkeypatch, capsys):
    before = recording(tmp_path / "before.rec")
    with closing(sqlite3.connect(before)) as file:
        file.execute("UPDATE samples SET body = zeroblob(20000000)")
        file.commit()
    assert main(["save", "--from", FIRST, "b.racwire", "--recording", str(before)]) == ExitCode.FAILURES
    assert "The saved file does not contain the recording." in capsys.readouterr().err
    with open_saved(Path("b.racwire")) as opened:
        assert opened.recording is None


def test_a_signal_during_the_write_lets_it_finish(monkeypatch, capsys):
    def ended(*args, **options):
        os.kill(os.getpid(), signal.SIGTERM)
        original(*args, **options)

    original = saving.save
    monkeypatch.setattr(saving, "save", ended)
    assert main(["save", "--from", FIRST, "b.racwire"]) == ExitCode.FAILURES
    assert report_in(Path("b.racwire")) == judged_here(Path(FIRST))
    assert f"racwire: {STOPPING}\n" in capsys.readouterr().err


def test_a_signal_before_the_write_removes_the_temporary_files(monkeypatch):
    def ended(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(saving, "exit_code", ended)
    assert main(["save", "--from", FIRST, "b.racwire"]) == ExitCode.INTERRUPTED
    assert os.listdir() == []


# --- with pseudonyms -------------------------------------------------------------------------------------------------


def leaked(path: Path, names: tuple[str, ...] = ("rac1", "rac2", "prodrac", "192.168.1", "10.20.0")) -> list[str]:
    """The names and addresses that are in a saved file, in any of its members."""
    whole = b"".join(members_of(path).values()).lower()
    return [name for name in names if name.encode() in whole]


def test_a_redacted_file_has_no_name_in_any_member_and_is_marked(places, capsys):
    assert main(["save", "--from", FIRST, "b.racwire", "--redact"]) == ExitCode.FAILURES
    assert leaked(Path(FIRST)) != []
    assert leaked(Path("b.racwire")) == []
    with open_saved(Path("b.racwire")) as opened:
        assert opened.report.is_redacted
    assert [event.at for event in events_in("b.racwire")] == [event.at for event in events_in(FIRST)]
    assert str(places[1] / "racwire" / "redaction.json") in capsys.readouterr().err


def test_a_redacted_file_gives_the_same_findings(capsys):
    main(["save", "--from", FIRST, "b.racwire", "--redact"])
    capsys.readouterr()
    assert main(["check", "--from", "b.racwire", "--format", "json"]) == ExitCode.FAILURES
    found = from_json(capsys.readouterr().out.encode())
    assert found == report_in(Path("b.racwire"))
    before = report_in(Path(FIRST))
    assert [(f.code, f.status) for f in found.findings] == [(f.code, f.status) for f in before.findings]


def test_a_redacted_file_keeps_its_pseudonyms(capsys):
    main(["save", "--from", FIRST, "b.racwire", "--redact"])
    main(["save", "--from", "b.racwire", "c.racwire", "--redact"])
    once, twice = members_of(Path("b.racwire")), members_of(Path("c.racwire"))
    assert once["report"] == twice["report"]
    assert events_in("b.racwire") == events_in("c.racwire")


def test_a_recording_is_redacted_even_if_the_report_already_is(tmp_path):
    main(["save", "--from", FIRST, "b.racwire", "--redact"])
    before = recording(tmp_path / "before.rec")
    main(["save", "--from", "b.racwire", "c.racwire", "--recording", str(before)])
    assert leaked(Path("c.racwire")) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--redaction-map", "m.json"], "--redaction-map has no effect without --redact; add --redact."),
        (["--redact", "--redaction-map", "no/such/file/m.json"], "m.json"),
        (["--redact", "--redaction-map", "damaged.json"], "damaged.json"),
    ],
)
def test_an_unusable_mapping_is_reported_before_anything_runs(words, message, monkeypatch, capsys):
    Path("damaged.json").write_text("{")
    Path("no").write_text("a file, and no directory")
    monkeypatch.setattr("tui.cli.load_or_run._live", lambda *_: pytest.fail("it ran"))
    assert main(["save", "b.racwire", *words]) == ExitCode.USAGE
    assert message in capsys.readouterr().err
    assert not Path("b.racwire").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["save", "m.json", "--force", "--redaction-map", "m.json"],
        ["save", "sub/../m.json.lock", "--redaction-map", "m.json"],
        ["save", "b.racwire", "--redaction-map", "b.racwire.lock", "--from", "b.racwire.lock"],
        ["save", "b.racwire", "--redaction-map", "a.rec", "--recording", "a.rec", "--from", FIRST],
        ["report", "-o", "link.html", "--force", "--redaction-map", "m.json"],
        ["report", "-o", "{state}/racwire/redaction.json", "--force", "--format", "json"],
        ["check", "-o", "m.json", "--force", "--redaction-map", "m.json"],
    ],
)
def test_the_mapping_is_never_overwritten_or_used_as_evidence(words, places, monkeypatch, capsys, tmp_path):
    _, state, _ = places
    recording(tmp_path / "a.rec").rename("a.rec")
    Path("sub").mkdir()
    (state / "racwire").mkdir()
    mappings = Path("m.json"), state / "racwire" / "redaction.json"
    for path in mappings:
        path.write_text("{}")
    Path("link.html").symlink_to("m.json")
    monkeypatch.setattr("tui.cli.load_or_run._live", lambda *_: pytest.fail("it ran"))
    assert main([word.format(state=state) for word in words] + ["--redact"]) == ExitCode.USAGE
    assert "is the file of the pseudonyms" in capsys.readouterr().err
    assert [path.read_text() for path in mappings] == ["{}", "{}"]


def test_an_unwritable_path_is_reported_before_anything_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("tui.cli.load_or_run._live", lambda *_: pytest.fail("it ran"))
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != tmp_path)
    Path("link").symlink_to("/nowhere/b.racwire")
    for name, message in ((str(tmp_path / "b"), f"you may not write to {tmp_path}"), ("link", "no directory /nowhere")):
        assert main(["save", name]) == ExitCode.USAGE
        assert message in capsys.readouterr().err


def test_check_names_may_follow_an_option():
    main(["save", "b.racwire", "--from", FIRST, "boot-mtu", "-q", "df-ping"])
    with open_saved(Path("b.racwire")) as opened:
        assert {finding.check for finding in opened.report.findings} == {"boot-mtu", "df-ping"}
