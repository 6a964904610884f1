"""`racwire compare`: its text and charts, its exit codes, and its errors for files that it cannot compare."""

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from checks.model.exit_codes import ExitCode
from checks.report.compare_pictures import picture_of
from checks.report.svg import document, element, label, text
from checks.traffic.compare.comparison import Comparison
from checks.traffic.compare.comparison_verdict import Runs, compare
from checks.traffic.compare.recorded_run import runs_of
from checks.traffic.compare.run import Better, ComparedRun, Measured
from checks.traffic.recorder import Recorder
from tests.unit.compare_support import FakeRecording, recording
from tui.cli.compare_text import lines_of
from tui.cli.comparing import exit_code
from tui.cli.main import main
from tui.text.line import plain

SVG = "{http://www.w3.org/2000/svg}"


def written(path: Path, of: FakeRecording, label: str = "") -> str:
    """Write a recording to a file."""
    header = of.header
    recorder = Recorder.create(path, type(header)(
        racwire_version=header.racwire_version, started_at=header.started_at, label=label,
        interval_s=header.interval_s, cluster=header.cluster,
    ))  # fmt: skip
    recorder.write(of.events())
    recorder.close()
    return str(path)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    directory = tmp_path_factory.mktemp("recordings")
    of = {
        "small": recording(1, mtu=1500),
        "again": recording(2, mtu=1500),
        "jumbo": recording(3, mtu=9000),
        "losing": recording(4, mtu=1500, lost_per_s=0.5),
        "busier": recording(5, mtu=9000, blocks=2000),
        "short": recording(6, seconds=30),
    }
    named = {name: written(directory / f"{name}.rec", made, f"the {name} one") for name, made in of.items()}
    for users in (100, 200):
        result = "Vuser 1:TEST RESULT : System achieved 8043 NOPM from 16365 Oracle TPM\n"
        log = f"Vuser 1:{users} Active Virtual Users configured\n{result}"
        (directory / f"hammer{users}.log").write_text(log)
        named[f"hammer{users}"] = str(directory / f"hammer{users}.log")
    return named


def compared(*recordings: FakeRecording) -> Comparison:
    runs, stretch_s = runs_of(list(zip(("before", "after", "same"), recordings, strict=False)))
    return compare([Runs(runs[0], runs[1], runs[2] if len(runs) > 2 else None, stretch_s)])


# --- from one end to the other ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("small", "jumbo", "--same", "again"), ExitCode.PASS),
        (("small", "losing", "--same", "again"), ExitCode.WARNINGS),
        (("small", "busier", "--same", "again"), ExitCode.COULD_NOT_TELL),
        (("small", "short"), ExitCode.COULD_NOT_TELL),
    ],
    ids=["nothing worse", "worse", "environment shifted", "too short"],
)
def test_the_exit_code_says_whether_something_is_worse_or_inconclusive(files, capsys, words, code):
    assert main(["compare", *(files.get(word, word) for word in words)]) == code
    assert capsys.readouterr().err == ""


def test_the_text_begins_with_the_compared_recordings_and_ends_with_the_events(files, capsys):
    main(["compare", files["small"], files["jumbo"], "--same", files["again"]])
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("BEFORE   the small one (")
    assert "Change   rac1 eth1 MTU, rac2 eth1 MTU: 1500 → 9000" in out
    assert any(line.split()[:4] == ["packets", "per", "block", "received"] and "-83 %" in line for line in out)
    assert "At MTU 1500 a block took 6.0 packets, at 9000 1.0 (messages not counted)." in out[-8:]
    assert not any("\x1b" in line for line in out)


def test_json_is_written_completely_to_a_new_file(files, capsys, tmp_path):
    target = tmp_path / "out.json"
    words = ["compare", files["small"], files["jumbo"], "--format", "json", "-o", str(target)]
    assert main(words) == ExitCode.PASS
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == f"racwire: the comparison is in {target}.\n"
    assert json.loads(target.read_text())["schema"] == "racwire-comparison/1"
    assert main(words) == ExitCode.USAGE
    assert main([*words, "--force"]) == ExitCode.PASS


def test_results_of_other_tools_are_included_and_other_users_are_another_load(files, capsys):
    words = ["compare", files["small"], files["jumbo"], "--also", files["hammer100"], files["hammer200"]]
    assert main(words) == ExitCode.COULD_NOT_TELL
    out = capsys.readouterr().out
    assert "virtual users: 100 before, 200 after: the load was not the same." in out
    assert "HammerDB" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("small", "small"), "is named twice: compare two runs."),
        (("small", "hammer100"), "name two files of one kind."),
        (("small", "nothing.rec"), "nothing.rec cannot be read: No such file or directory."),
        (("small", "/dev/zero"), "/dev/zero is not a regular file; name a recording or a result of another tool."),
        (("small", "jumbo", "--skip-first", "soon"), "--skip-first: 'soon' is not a time; use one such as "),
        (("small", "jumbo", "-o", "small", "--force"), "write elsewhere."),
        (("small", "jumbo", "--svg", "/nowhere/x.svg"), "there is no directory /nowhere."),
        (("small", "jumbo", "-o", "x.out", "--svg", "x.out"), "write two files."),
    ],
)
def test_incomparable_files_are_one_sentence_and_exit_code_64(files, capsys, words, message):
    before = Path(files["small"]).read_bytes()
    assert main(["compare", *(files.get(word, word) for word in words)]) == ExitCode.USAGE
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert Path(files["small"]).read_bytes() == before


def test_a_pipe_is_refused_at_once(files, capsys, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert main(["compare", files["small"], str(tmp_path / "pipe")]) == ExitCode.USAGE
    assert "pipe is not a regular file" in capsys.readouterr().err


def test_more_losses_than_before_are_no_success_even_if_too_rare_for_a_verdict(tmp_path):
    quiet = Measured("blocks lost", "1/s", (0.0,) * 12, Better.LOWER)
    burst = Measured("blocks lost", "1/s", (0.0,) * 11 + (4.0,), Better.LOWER)
    steady = Measured("load", "", tuple(range(1, 13)))
    runs = [ComparedRun("recording", "r", measured=(measured, steady)) for measured in (quiet, burst)]
    assert exit_code(compare([Runs(*runs)])) == ExitCode.COULD_NOT_TELL
    assert exit_code(compare([Runs(*reversed(runs))])) == ExitCode.PASS


@pytest.mark.parametrize(
    "broken", [b"", b"\0" * 100, b"SQLite format 3\0", b"SQLite format 3\0" + b"\xff" * 5000, b"{"]
)
def test_a_broken_file_is_one_sentence(files, capsys, tmp_path, broken):
    (tmp_path / "broken.rec").write_bytes(broken)
    assert main(["compare", files["small"], str(tmp_path / "broken.rec")]) == ExitCode.USAGE
    err = capsys.readouterr().err
    assert "broken.rec" in err
    assert err.count("\n") == 1


def test_a_locale_without_unicode_gets_plain_signs(files):
    ran = subprocess.run(
        [sys.executable, "-P", "-m", "racwire", "compare", files["small"], files["jumbo"]],
        capture_output=True, timeout=60, check=False,
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", "PYTHONIOENCODING": "ascii"},
    )  # fmt: skip
    assert ran.returncode == ExitCode.PASS, ran.stderr
    assert b"1500 > 9000" in ran.stdout
    assert b"?" not in ran.stdout


# --- the text ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [80, 100, 120])
@pytest.mark.parametrize("every", [False, True])
def test_lines_fit_the_width(width, every):
    comparison = compared(recording(1), recording(2, mtu=9000, small_ping_us=500, kernel="6.1"))
    lines = [plain([line]) for line in lines_of(comparison, width, every=every)]
    assert max(map(len, lines)) <= width


def test_a_wide_terminal_shows_the_intervals():
    comparison = compared(recording(1), recording(2, mtu=9000))
    wide = plain(lines_of(comparison, 120))
    assert "6.00 [6.00 6.00]" in wide


def test_metrics_without_a_result_are_left_out_unless_all_are_requested():
    comparison = compared(recording(1), recording(2, mtu=9000))
    some, everything = (plain(lines_of(comparison, 100, every=e)) for e in (False, True))
    assert "rac1 packets per block" not in some
    assert "rac1 packets per block" in everything
    assert "0 in both: drops and errors" in some
    assert "0 in both" not in everything


def hostile() -> Comparison:
    """Names and facts with all characters that control a terminal or a browser."""
    name = "</text><script>alert(1)</script>\x1b[2J\u202e&\"'\ud800"
    runs = [
        ComparedRun("Swingbench", name, environment={name: str(n)}, warnings=(name,),
            measured=(Measured(name, name, tuple(float(n * v) for v in range(1, 9)), group=name, note=name),))
        for n in (1, 4)
    ]  # fmt: skip
    return compare([Runs(runs[0], runs[1])])


def test_names_from_files_are_escaped_for_a_terminal():
    written = plain(lines_of(hostile(), 80))
    assert "\x1b" not in written
    assert "\u202e" not in written


# --- the picture ------------------------------------------------------------------------------------------------------


def test_the_picture_is_one_complete_file_without_links_or_scripts(files, capsys, tmp_path):
    target = tmp_path / "mtu.svg"
    assert main(["compare", files["small"], files["jumbo"], "--svg", str(target)]) == ExitCode.PASS
    assert f"the picture is in {target}." in capsys.readouterr().err
    written = target.read_text(encoding="utf-8")
    root = ET.fromstring(written)
    assert root.find(f"{SVG}title").text.startswith("Comparison of the small one")
    assert "6.0 packets" in root.find(f"{SVG}desc").text
    assert written.count("http") == 1  # the name space
    assert {e.tag.removeprefix(SVG) for e in root.iter()}.isdisjoint({"script", "image", "use", "foreignObject", "a"})
    assert "prefers-color-scheme: dark" in written
    assert "@media screen" in written  # paper stays light


def test_every_interval_is_a_dot_and_nothing_is_drawn_outside():
    comparison = compared(recording(1), recording(2, mtu=9000))
    root = ET.fromstring(picture_of(comparison))
    dots = [e for e in root.iter(f"{SVG}circle") if e.get("class") == "after"]
    assert len(dots) > 30 * 10
    width, height = float(root.get("width")), float(root.get("height"))
    for found in dots:
        assert 0 <= float(found.get("cx")) <= width
        assert 0 <= float(found.get("cy")) <= height


def test_names_from_files_are_only_text_in_the_picture():
    root = ET.fromstring(picture_of(hostile()).encode())
    assert not list(root.iter("script"))
    assert not list(root.iter(f"{SVG}script"))
    assert any("<script>" in (found.text or "") for found in root.iter(f"{SVG}text"))


def test_a_comparison_without_metrics_is_a_picture_too():
    assert (
        ET.fromstring(picture_of(compare([Runs(ComparedRun("HammerDB", "a"), ComparedRun("HammerDB", "b"))])).encode())
        is not None
    )


def test_the_svg_writer_escapes_text():
    assert text("<&>\x00\x1b") == "&lt;&amp;&gt;\\x00\\x1b"
    assert (
        element("circle", r=2.25, class_='a"b', stroke_width=1.0) == '<circle r="2.2" class=\'a"b\' stroke-width="1"/>'
    )
    written = document(10, 20, "<t>", "d&d", [label(1, 2, "x<y", tip="more")])
    assert ET.fromstring(written.encode()).find(f"{SVG}title").text == "<t>"
