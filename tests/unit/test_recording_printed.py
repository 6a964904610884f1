"""`racwire watch` and `open` on a recording: JSON lines, the contents, and files that are none."""

import json
import subprocess
import sys

import pytest

from checks.model.exit_codes import ExitCode
from checks.traffic.recorder import Recorder
from checks.traffic.samples import Gap
from checks.traffic.source_id import SourceId
from tests.unit.record_command_support import ROOT, racwire
from tests.unit.recording_support import BEGIN, busy, header


@pytest.fixture
def recording(tmp_path):
    path = tmp_path / "a.rec"
    recorder = Recorder.create(path, header("mtu1500"))
    for events in busy(20):
        recorder.write(events)
    recorder.write([Gap(SourceId.node("rac2"), BEGIN + 21, "rac2 did not answer\x1b[2J.")])
    recorder.close()
    return path


def test_a_recording_is_printed_as_json_lines(recording):
    ran = racwire("watch", str(recording))
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    assert (ran.returncode, ran.stderr) == (0, "")
    assert lines[0] == {
        "fact": "Header", "racwire_version": "0.1.0", "started_at": header().started_at, "interval_s": 1.0,
        "label": "mtu1500",
    }  # fmt: skip
    assert [line["fact"] for line in lines[1:4]] == ["Cluster", "Links", "Links"]
    assert [line["at"] for line in lines[2:]] == sorted(line["at"] for line in lines[2:])
    assert lines[-1] == {
        "fact": "Gap",
        "source": "node rac2",
        "at": BEGIN + 21,
        "reason": "rac2 did not answer\x1b[2J.",
    }
    assert "\x1b" not in ran.stdout


def test_a_reader_of_json_lines_that_stops_early_is_not_an_error(recording):
    line = f"{sys.executable} -P -m racwire watch {recording} | head -1; echo ${{PIPESTATUS[0]}}"
    ran = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=60, check=False, cwd=ROOT)
    assert (ran.stdout.splitlines()[-1], ran.stderr) == ("0", "")


def test_options_of_live_samples_are_refused_for_a_recording(recording):
    ran = racwire("watch", "--every", "5", str(recording))
    assert ran.returncode == ExitCode.USAGE
    assert "are for live samples: leave them out to print a recording." in ran.stderr


def test_live_samples_are_printed_as_json_lines_at_once():
    ran = racwire("watch", "--for", "3s")
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    assert ran.returncode == ExitCode.PASS
    assert lines[0]["fact"] == "Header"
    assert {"NodeSample", "Cluster", "Links"} <= {line["fact"] for line in lines}
    assert "racwire: " in ran.stderr


def test_open_without_a_terminal_prints_the_contents(recording):
    ran = racwire("open", str(recording))
    assert (ran.returncode, ran.stderr) == (0, "")
    output = " ".join(ran.stdout.split())
    for words in (
        "Label mtu1500", "20 s", "Interval 1 s", "From rac1", "node rac1 20 samples", "instance prod2 20 samples",
        "node rac2 20 samples 1 gap; the last: rac2 did not answer\\x1b[2J.", "pairs 2 samples",
    ):  # fmt: skip
        assert words in output
    assert all(len(line) <= 80 for line in ran.stdout.splitlines() if str(recording) not in line)


@pytest.mark.parametrize(
    ("command", "foreign"), [("open", "is not a file that racwire wrote"), ("watch", "is no recording of racwire")]
)
def test_a_file_that_is_not_a_recording_is_one_sentence(tmp_path, command, foreign):
    (tmp_path / "letter").write_text("a letter")
    for name, why in (("letter", foreign), ("none", "could not be read: No such file")):
        ran = racwire(command, name, cwd=tmp_path)
        assert (ran.returncode, ran.stdout, len(ran.stderr.splitlines())) == (ExitCode.USAGE, "", 1)
        assert f"racwire: {name} {why}" in ran.stderr
