"""The mapping: it stays with the operator, and gives the same pseudonyms in every run."""

import ipaddress
import os
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from checks.redact import Pseudonyms, RedactionError, open_mapping
from checks.redact.addresses import Addresses
from checks.redact.pseudonyms import MappingFile
from checks.report.report_evidence import Evidence
from checks.traffic.recorder import Recorder
from checks.traffic.recording import Recording
from checks.traffic.samples import Gap
from checks.traffic.source_id import SourceId, SourceKind
from checks.whole_files import OutputError
from tests.unit.recording_support import busy, header
from tests.unit.redact_support import site, track
from tui.cli import redaction
from tui.cli.errors import UsageError


def read(path: Path) -> MappingFile:
    return msgspec.json.decode(path.read_bytes(), type=MappingFile)


def test_only_the_operator_can_read_the_mapping_and_it_is_readable_text(tmp_path: Path) -> None:
    path = tmp_path / "state" / "racwire" / "redaction.json"

    with open_mapping(path) as pseudonyms:
        pseudonyms.name("host", "RAC1")
        Addresses(pseudonyms).ip(ipaddress.ip_address("192.168.10.7"))

    assert read(path).names == {"host": {"rac1": "host_a"}}
    assert read(path).addresses == {"192.168.10.7": "240.0.1.7"}
    assert '"192.168.10.0/24": "240.0.1.0/24"' in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_mapping_readable_by_others_becomes_private(tmp_path: Path) -> None:
    path = tmp_path / "map.json"
    with open_mapping(path) as pseudonyms:
        pseudonyms.name("host", "rac1")
    path.chmod(0o644)

    with open_mapping(path):
        pass

    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_run_that_fails_does_not_change_the_mapping(tmp_path: Path) -> None:
    path = tmp_path / "map.json"
    with open_mapping(path) as pseudonyms:
        pseudonyms.name("host", "rac1")
    before = path.read_bytes()

    def fail() -> None:
        with open_mapping(path) as pseudonyms:
            pseudonyms.name("host", "rac2")
            raise KeyError

    with pytest.raises(KeyError):
        fail()

    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "content",
    [
        b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"names": 3}', b'{"other": {}}', b"[" * 100_000,
        b'{"names": {"host": {"rac1": "host_a", "rac2": "host_a"}}}',
        b'{"names": {"host": {"rac1": "host_a"}, "user": {"ann": "host_a"}}}',
        b'{"networks": {"10.0.0.0/24": "here"}}', b'{"networks": {"10.0.0.0/24": "11.0.0.0/24"}}',
        b'{"networks": {"10.0.0.0/24": "240.0.0.0/16"}}', b'{"networks": {"10.0.0.1/24": "240.0.0.0/24"}}',
        b'{"networks": {"10.0.0.0/24": "240.0.0.0/24", "10.0.1.0/24": "240.0.0.0/24"}}',
        b'{"addresses": {"10.0.0.1": "nowhere"}}', b'{"schema": "racwire-redaction/9"}',
        b'{"addresses": {"10.0.0.1": "fd00::1"}}', b'{"mac_addresses": {"b8599f0a1b2c": "zz"}}',
        b'{"identifiers": {"1": "zz"}}',
    ],
)  # fmt: skip
def test_a_damaged_mapping_is_one_sentence_and_is_never_overwritten(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "map.json"
    path.write_bytes(content)

    with pytest.raises(RedactionError, match=r"map\.json") as error, open_mapping(path):
        pytest.fail("it was taken for a mapping")

    assert "--redaction-map" in str(error.value)
    assert "\n" not in str(error.value)
    assert path.read_bytes() == content


def test_a_path_that_cannot_be_a_mapping_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    os.mkfifo(tmp_path / "pipe")

    for path, error in (
        (tmp_path, RedactionError),
        (tmp_path / "pipe", RedactionError),
        (tmp_path / "file" / "x", OutputError),
    ):
        with pytest.raises(error, match="--redaction-map"), open_mapping(path):
            pytest.fail("it was taken for a mapping")


def test_concurrent_runs_lose_nothing_and_use_no_pseudonym_twice(tmp_path: Path) -> None:
    path = tmp_path / "map.json"
    program = (
        "import sys; from pathlib import Path; from checks.redact import open_mapping\n"
        "for n in range(5):\n"
        "    with open_mapping(Path(sys.argv[1])) as p: p.name('host', f'node{sys.argv[2]}{n}')\n"
    )

    runs = [subprocess.Popen([sys.executable, "-c", program, str(path), which]) for which in "ab"]

    assert [run.wait(60) for run in runs] == [0, 0]
    names = read(path).names["host"]
    assert names.keys() == {f"node{which}{n}" for which in "ab" for n in range(5)}
    assert len(set(names.values())) == 10


def test_the_command_redacts_and_stores_the_mapping_and_prints_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    made = redaction.redacted(Evidence(site(), track()), None)

    assert made.report.is_redacted
    assert made.track is not None
    assert made.track.sources() == (SourceId.node("host_a"), SourceId.node("host_b"))
    captured = capsys.readouterr()
    assert str(tmp_path / "racwire" / "redaction.json") in captured.err
    assert "review the file before you hand it on" in captured.err
    assert captured.out == ""
    assert read(tmp_path / "racwire" / "redaction.json").names["host"]["rac1"] == "host_a"


def test_the_mapping_has_the_names_of_samples_that_are_read_later(tmp_path: Path) -> None:
    samples = track()
    reason = "172.31.7.9 and fd00:1:2:3::9 and 0c:42:a1:00:00:09 gave no answer to kim@elsewhere.org"
    samples.add([Gap(SourceId.node("rac2"), 4.0, reason)])
    made = redaction.redacted(Evidence(site(), samples), str(tmp_path / "map.json"))
    assert made.track is not None

    (*_, requested) = made.track.window(SourceId.node("host_b"), 0, 9)

    mapping = read(tmp_path / "map.json")
    assert isinstance(requested, Gap)
    assert requested.reason.split()[0] == mapping.addresses["172.31.7.9"]
    assert requested.reason.split()[2] == mapping.addresses["fd00:1:2:3::9"]
    assert requested.reason.split()[4].replace(":", "") == mapping.mac_addresses["0c42a1000009"]
    assert requested.reason.endswith(f"{mapping.names['mail']['kim@elsewhere.org']}@mail.invalid")


def test_redacted_evidence_is_unchanged_and_a_message_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    map_file = str(tmp_path / "map.json")
    once = redaction.redacted(Evidence(site()), map_file)
    before = Path(map_file).read_bytes()
    capsys.readouterr()

    assert redaction.redacted(once, map_file) is once
    assert "already" in capsys.readouterr().err
    assert Path(map_file).read_bytes() == before


def test_a_saved_report_is_not_searched_for_its_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redaction, "identity", lambda: pytest.fail("it was asked"))
    saved = msgspec.structs.replace(site(), saved_at="2026-11-20T15:00:00+01:00")

    assert redaction.redacted(Evidence(saved), str(tmp_path / "map.json")).report.is_redacted


def test_a_recording_gets_the_pseudonyms_of_its_report(tmp_path: Path) -> None:
    map_file = str(tmp_path / "map.json")
    with closing(Recorder.create(tmp_path / "plain.rec", header())) as recorder:
        for events in busy(3):
            recorder.write(events)
    report = redaction.redacted(Evidence(site()), map_file).report

    target = redaction.redact_recording(tmp_path / "plain.rec", tmp_path / "redacted.rec", map_file)

    with closing(Recording.open(target)) as recording:
        nodes = [s.name for s in recording.sources() if s.kind is SourceKind.NODE]
    assert nodes == [n.name for n in report.cluster.read_nodes()[:2]]


def test_a_damaged_mapping_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "map.json").write_text("{")

    with pytest.raises(UsageError, match="damaged"):
        redaction.redacted(Evidence(site()), str(tmp_path / "map.json"))


def test_a_stored_mapping_restores_the_same_pseudonyms() -> None:
    first = Pseudonyms()
    first.name("host", "rac1")
    first.mac("b8599f0a1b2c")
    first.identifier(0xB8599F)
    first.database_id("2718281828")

    assert Pseudonyms(first.mapping()).mapping() == first.mapping()


def test_the_user_who_became_root_is_replaced_too() -> None:
    named = redaction.identity({"SUDO_USER": "zaphod", "LOGNAME": "root", "HOME": "/root"})

    assert "zaphod" in named.logins
    assert named.host
