"""Messages to syslog: RFC 5424 read by its grammar, the form of syslog(3), a daemon that is full, dead or missing."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from checks.model.settings import Settings
from checks.model.settings_reporting import SyslogSettings
from checks.report.syslog import ERROR, NOTICE, SyslogMessage, octets, of_event
from checks.traffic.header import header_now, still_unknown
from checks.traffic.recorder import Recorder
from tests.unit.test_event_lines import loss
from tests.unit.test_record_command import FakeFeed, found
from tui.cli.main import main
from tui.cli.syslog import Syslog
from tui.cli.tape import Tape

ENTERPRISE = 32473
"""The number for documentation and tests (RFC 5612)."""
LOCAL = SyslogSettings(send=True)
WHOLE = SyslogSettings(send=True, format="rfc5424", facility="local3", enterprise=ENTERPRISE)
NOW = 1_796_000_000.25
MESSAGES = st.builds(
    SyslogMessage,
    st.sampled_from(["CAUSE-12", "lost-blocks", "run"]),
    st.integers(0, 7),
    st.text(st.characters(codec=None), max_size=3000),
    st.dictionaries(st.sampled_from(["status", "file", "causes"]), st.text(st.characters(codec=None), max_size=1200)),
)

_PRINTABLE = r"[!-~]"
_NAME = r"[!#-<>-\\^-~]{1,32}"
_VALUE = r'(?:[^"\\\]]|\\["\\\]])*'
_ELEMENT = rf'\[{_NAME}(?: {_NAME}="{_VALUE}")*\]'
_GRAMMAR = re.compile(
    rf"<(?P<priority>\d{{1,3}})>1 (?P<time>\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{{1,6}}(?:Z|[+-]\d\d:\d\d)) "
    rf"(?P<host>{_PRINTABLE}{{1,255}}) (?P<app>{_PRINTABLE}{{1,48}}) (?P<process>{_PRINTABLE}{{1,128}}) "
    rf"(?P<kind>{_PRINTABLE}{{1,32}}) (?P<data>-|(?:{_ELEMENT})+) (?P<text>.*)",
    re.DOTALL,
)


class Read(NamedTuple):
    facility: int
    severity: int
    kind: str
    time: datetime
    fields: dict[str, str]
    text: str


def read(data: bytes) -> Read:
    """Read a message by the grammar of RFC 5424, section 6."""
    found = _GRAMMAR.fullmatch(data.decode())
    assert found, data
    text = found["text"]
    assert text.isascii() or text[0] == "\ufeff", "a text in UTF-8 starts with the mark of byte order"
    assert text.count("\ufeff") == (not text.isascii())
    pairs = re.findall(rf' ({_NAME})="({_VALUE})"', found["data"])
    fields = {name: re.sub(r'\\(["\\\]])', r"\1", value) for name, value in pairs}
    facility, severity = divmod(int(found["priority"]), 8)
    time = datetime.fromisoformat(found["time"])
    return Read(facility, severity, found["kind"], time, fields, text.removeprefix("\ufeff"))


@given(MESSAGES)
def test_any_message_is_one_by_the_grammar_without_control_characters(message: SyslogMessage) -> None:
    data = octets(message, WHOLE, NOW)
    found = read(data)
    assert len(data) <= 2048
    assert (found.facility, found.severity, found.kind) == (19, message.severity, message.kind)
    assert found.time.timestamp() == NOW
    assert not [c for c in found.text if not c.isprintable() and c.isascii()]
    for settings in (LOCAL, replace(WHOLE, enterprise=0)):
        assert len(octets(message, settings, NOW)) <= 2048
        assert b"\n" not in octets(message, settings, NOW)


def test_fields_are_escaped_and_the_last_ones_are_left_out_where_room_is_short() -> None:
    message = SyslogMessage(
        "run", ERROR, "jumbo frames vanish → rac2", {"path": '/a"]\\b', "empty": "", "long": "x" * 3000}
    )
    assert read(octets(message, WHOLE, NOW)).fields == {"path": '/a"]\\b'}
    assert read(octets(message, WHOLE, NOW)).text == "jumbo frames vanish → rac2"


def test_without_a_number_of_the_site_there_is_no_structured_data() -> None:
    data = octets(SyslogMessage("run", ERROR, "2 nodes", {"exit": "2"}), replace(WHOLE, enterprise=0), NOW)
    assert b' run - 2 nodes [exit="2"]' in data
    assert read(data).fields == {}


def test_the_local_form_is_that_of_syslog_3() -> None:
    data = octets(SyslogMessage("CAUSE-12", ERROR, "lost", {"exit": "2"}), LOCAL, NOW).decode()
    assert re.fullmatch(r'<11>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d racwire\[\d+\]: CAUSE-12 lost \[exit="2"\]', data)


def test_an_event_has_its_kind_its_state_and_its_places() -> None:
    lost = loss(1, NOW - 60)
    begun = of_event("starts", lost, NOW)
    assert (begun.kind, begun.severity) == ("lost-blocks", ERROR)
    assert begun.text.startswith("starts: blocks lost on rac1")
    assert begun.fields["nodes"] == "rac1"
    assert of_event("ends", loss(1, NOW - 60, NOW), NOW).severity == NOTICE


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(tmp_path / "log"))
        yield listening


def test_a_daemon_that_is_full_or_gone_costs_a_sentence_and_no_time(daemon: socket.socket, tmp_path: Path) -> None:
    said: list[str] = []
    syslog = Syslog(replace(LOCAL, socket=str(tmp_path / "log")), said.append)
    message = SyslogMessage("run", ERROR, "lost", {})
    for _ in range(5000):  # nobody reads: a wait would never end
        syslog.send(message)
    assert said == [f"syslog got no message: {tmp_path}/log: Resource temporarily unavailable."]
    daemon.close()
    syslog.send(message)
    assert len(said) == 1
    for path, why in ((tmp_path / "log", "Connection refused"), (tmp_path / "none", "No such file or directory")):
        Syslog(replace(LOCAL, socket=str(path)), said.append).send(message)
        assert said[-1] == f"syslog got no message: {path}: {why}."


def test_a_run_is_one_message_and_a_saved_file_none(
    daemon: socket.socket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RACWIRE_SYSLOG_SOCKET", str(tmp_path / "log"))
    monkeypatch.setenv("RACWIRE_SYSLOG_FORMAT", "rfc5424")
    monkeypatch.setenv("RACWIRE_SYSLOG_ENTERPRISE", str(ENTERPRISE))
    code = main(["check", "rp-filter", "--syslog", "-q", "-o", str(tmp_path / "report.txt")])
    found = read(daemon.recv(4096))
    assert found.fields["exit"] == str(code)
    assert found.fields["node"]
    assert capsys.readouterr() == ("", "")
    saved = Path(__file__).parents[1] / "golden" / "v0_2_0" / "faults.racwire"
    assert main(["check", "--syslog", "--from", str(saved)]) == 64
    assert "--syslog reports a run" in capsys.readouterr().err
    monkeypatch.setenv("RACWIRE_SYSLOG_SEND", "true")
    main(["check", "rp-filter", "-q", "--from", str(saved)])
    daemon.setblocking(False)
    with pytest.raises(BlockingIOError):
        daemon.recv(4096)


def test_a_recording_tells_of_its_start_and_its_end(daemon: socket.socket, tmp_path: Path) -> None:
    settings = Settings(syslog=replace(WHOLE, socket=str(tmp_path / "log")))
    file = tmp_path / "night.rec"
    recorder = Recorder.create(file, header_now(still_unknown(settings), settings, interval_s=1.0))
    tape = Tape(file, recorder, settings, quiet=True, for_s=0.05)
    code = tape.record(lambda: FakeFeed(), found())
    began, ended = (read(daemon.recv(4096)) for _ in range(2))
    assert (began.kind, began.fields["file"], began.severity) == ("record-start", str(file), 6)
    assert (ended.kind, ended.fields["exit"], ended.severity) == ("record-stop", str(code), 4)
