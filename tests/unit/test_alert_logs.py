"""The lines of alert logs: the program that reads them, run by a real `sh`, and the parser of what it prints."""

import os
import subprocess
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.facts import LogKind, NodeLogs, Unknown
from checks.sources.alert_logs import DONE, LOGS_COMMAND, LOGS_LIMIT_S, LOOKED_IN, NO_TIMEOUT
from checks.sources.nodes.alert_log_text import parse_logs
from checks.sources.nodes.sections import OutputSection, sections
from checks.sources.sh_text import FILE_MARK, UNREADABLE
from checks.sources.sh_text import program as program_of

NOW = "now 1795401552 +0100"  # 2026-11-23 03:39:12 in the zone of the node
CRS = "/u01/app/grid/diag/crs/rac1/crs/trace/alert.log"
PROD = "/u01/app/oracle/diag/rdbms/prod/prod1/trace/alert_prod1.log"


def parsed(*lines, path=CRS, now=NOW, status=0, done=DONE) -> NodeLogs:
    logs = parse_logs(OutputSection("\n".join((now, f"{FILE_MARK} {path}", *lines, done)), status))
    assert isinstance(logs, NodeLogs)
    return logs


def lines_of(*lines, path=CRS, now=NOW):
    (log,) = parsed(*lines, path=path, now=now).logs
    return [(line.at, line.code) for line in log.lines]


@pytest.mark.parametrize(
    "lines",
    [
        # 12.1.0.2 and later, 11.2, as in public logs; a message can be in another language.
        [
            "2026-11-23 03:30:12.123 [OCSSD(1234)]CRS-1612: Network communication with node rac2 (2) has been missing "
            "for 50% of the timeout interval.  If this persists, removal of this node from cluster will occur in 14.7"
        ],
        [
            "2026-11-23 03:30:12.123",
            "[cssd(13669)]CRS-1612:50% 的超时时间间隔内缺少与节点 rac2 (2) 的网络通信。将在 14.140 秒后",
        ],
        [
            "2026-11-23 03:30:12.123:",
            "[cssd(4178)]CRS-1612:Network communication with node rac2 (2) missing for 50% of",
        ],
    ],
)
def test_each_form_of_a_line_of_clusterware_is_read(lines):
    assert lines_of(*(f" {line}" for line in lines)) == [("2026-11-23T03:30:12.123000+01:00", "CRS-1612")]


@pytest.mark.parametrize(
    ("stamp", "at"),
    [
        ("2026-11-23T03:39:12.123456+00:00", "2026-11-23T03:39:12.123456+00:00"),
        ("2026-11-22T21:39:12.123456-05:00", "2026-11-22T21:39:12.123456-05:00"),
        ("2026-11-23T03:39:12Z", "2026-11-23T03:39:12+00:00"),
        ("Mon Nov 23 03:39:12 2026", "2026-11-23T03:39:12+01:00"),
        ("Mon Nov 23 03:39:12 CET 2026", "2026-11-23T03:39:12+01:00"),
    ],
)
def test_each_time_stamp_of_a_database_has_its_zone_or_that_of_the_node(stamp, at):
    found = lines_of(stamp, " IPC Send timeout detected. Sender: ospid 4812 [oracle@rac1 (LMS0)]", path=PROD)
    assert found == [(at, "IPC Send timeout")]


def test_lines_older_than_a_day_and_lines_without_a_time_are_left_out():
    text = "[OCSSD(1)]CRS-1610: Network communication with node rac2 (2) missing for 90%"
    old = datetime.fromisoformat("2026-11-23T03:39:12+01:00") - timedelta(hours=24, seconds=1)
    assert lines_of(text, f"{old:%Y-%m-%d %H:%M:%S}.000 {text}", f"2026-11-22 03:39:13.000 {text}") == [
        ("2026-11-22T03:39:13+01:00", "CRS-1610")
    ]


def test_the_transport_is_read_whatever_its_age():
    (log,) = parsed(
        "Fri Aug 06 23:28:49 2021",
        "cluster interconnect IPC version:Oracle RDS/IP (generic)",
        "2026-01-01T00:00:00.000000+00:00",
        "cluster interconnect IPC version: [IPCLW over UDP(mode 3) ]",
        path=PROD,
    ).logs
    assert (log.ipc, log.lines, log.owner, log.database) == ("[IPCLW over UDP(mode 3) ]", (), "prod1", "prod")


@pytest.mark.parametrize(
    ("path", "kind", "owner"),
    [
        (CRS, LogKind.CLUSTERWARE, "rac1"),
        ("/u01/app/11.2.0/grid/log/rac1/alertrac1.log", LogKind.CLUSTERWARE, "rac1"),
        (PROD, LogKind.DATABASE, "prod1"),
        ("/u01/app/grid/diag/asm/+asm/+ASM1/trace/alert_+ASM1.log", LogKind.ASM, "+ASM1"),
    ],
)
def test_the_path_tells_who_writes_a_log(path, kind, owner):
    (log,) = parsed(path=path).logs
    assert (log.kind, log.owner, log.lines) == (kind, owner, ())


def test_control_characters_do_not_reach_the_facts_and_a_line_is_bounded():
    (log,) = parsed(f"2026-11-23 03:30:00.000 [OCSSD(1)]CRS-1609: \x1b[2J\x9b{'x' * 10_000}").logs
    assert "\x1b" not in log.lines[0].text
    assert len(log.lines[0].text) == 420


def test_refused_files_and_directories_and_a_missing_timeout_have_a_reason():
    (log,) = parsed(UNREADABLE).logs
    assert isinstance(log.lines, Unknown)
    assert log.lines.right is not None
    assert parsed(UNREADABLE, path="/u01/app/oracle/diag/rdbms").closed == ("/u01/app/oracle/diag/rdbms",)
    assert "timeout" in parse_logs(OutputSection(f"{NOW}\n{NO_TIMEOUT}")).reason
    assert isinstance(parse_logs(None), Unknown)
    assert parsed(done="", status=124).cut == f"they took over {LOGS_LIMIT_S} s"
    assert parsed(done="").cut == "they were too long"


pieces = st.sampled_from(
    [
        NOW, "now 999999999999 +9999", "now 0 -0000", DONE, NO_TIMEOUT, UNREADABLE, f"{LOOKED_IN} /u01",
        f"{FILE_MARK} {CRS}", f"{FILE_MARK} {PROD}", f"{FILE_MARK} /", "2026-13-99 99:99:99",
        "2026-11-23T03:30:00+99:99",
        "2026-11-23 03:30:00.1 [OCSSD(1)]CRS-1612:", "Mon Foo 99 99:99:99 2026", "Receiver: inst ", "ORA-27300",
        "0000-00-00 00:00:00.000 CRS-1610:", "9999-12-31 23:59:59 CRS-1608: ", "--",
    ]
)  # fmt: skip


@given(st.lists(pieces | st.text(max_size=40), max_size=12).map("\n".join), st.sampled_from([0, 1, 124]))
def test_any_text_is_parsed(text, status):
    assert isinstance(parse_logs(OutputSection(text, status)), NodeLogs | Unknown)
    assert isinstance(parse_logs(OutputSection(f"{NOW}\n{FILE_MARK} {CRS}\n{text}", status)), NodeLogs | Unknown)


# --- the program ------------------------------------------------------------------------------------------------------


@pytest.fixture
def node(tmp_path):
    grid, home = tmp_path / "u01/app/19.0.0/grid", tmp_path / "u01/app/oracle/product/19.0.0/db_1"
    for place in (grid / "install", home / "install", tmp_path / "etc/oracle"):
        place.mkdir(parents=True)
    (tmp_path / "etc/oracle/olr.loc").write_text(f"olrconfig_loc=/x\ncrs_home={grid}\n")
    (tmp_path / "etc/oratab").write_text(f"# a comment:/not/this:N\n+ASM1:{grid}:N\nprod:{home}:N\n")
    (grid / "install/orabasetab").write_text(f"#orabasetab file\n{grid}:{tmp_path}/u01/app/grid:OraGI19Home1:N:\n")
    write(tmp_path, CRS, "")
    write(tmp_path, PROD, "")
    return tmp_path


def write(root, path, text):
    place = root / path.lstrip("/")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(text if isinstance(text, bytes) else text.encode())
    return place


def read(root, limit_s=LOGS_LIMIT_S) -> NodeLogs:
    text = (
        program_of({"alert logs": LOGS_COMMAND}).replace("/etc/", f"{root}/etc/").replace("/var/opt/", f"{root}/var/")
    )
    text = text.replace(f"timeout {LOGS_LIMIT_S} ", f"timeout {limit_s} ")
    ran = subprocess.run(["sh"], input=text, capture_output=True, text=True, timeout=30, check=True, errors="replace")
    assert ran.stderr == ""
    found = parse_logs(sections(ran.stdout)["alert logs"])
    assert isinstance(found, NodeLogs), found
    return found


def stamp(ago=timedelta(minutes=5)):
    return (datetime.now().astimezone() - ago).isoformat(timespec="microseconds")


def test_listed_lines_are_read_from_the_logs_of_each_base(node):
    write(node, CRS, f"{stamp()[:23].replace('T', ' ')} [OCSSD(7)]CRS-1610: Network communication with node rac2 (2)\n")
    write(
        node,
        PROD,
        f"{stamp()}\nStarting ORACLE instance\nDB_PASSWORD=hunter2\n{stamp()}\nIPC Send timeout detected. Sender: 1\n"
        f"Receiver: inst 2 binc 430 ospid 2345\n{stamp()}\nThread 1 advanced to log sequence 42\n",
    )
    found = read(node)
    codes = {log.owner: [line.code for line in log.lines] for log in found.logs}
    assert codes == {"rac1": ["CRS-1610"], "prod1": ["Starting", "IPC Send timeout", "Receiver"]}
    assert set(found.looked_in) == {f"{node}/u01/app/grid", f"{node}/u01/app/oracle"}
    assert (found.cut, found.closed) == ("", ())


def test_no_unlisted_line_leaves_the_node(node):
    write(node, PROD, f"{stamp()}\nsecret one\nIPC Send timeout detected.\nsecret two\n{stamp()}\nsecret three\n")
    text = LOGS_COMMAND.replace("/etc/", f"{node}/etc/").replace("/var/opt/", f"{node}/var/")
    printed = subprocess.run(["sh"], input=text, capture_output=True, text=True, timeout=30, check=True).stdout
    assert "IPC Send timeout" in printed
    assert "secret" not in printed


def test_the_log_of_11_2_is_in_the_grid_home(node):
    path = "/u01/app/19.0.0/grid/log/rac1/alertrac1.log"
    write(node, path, f"{stamp()[:23].replace('T', ' ')}\n[cssd(4178)]CRS-1607:Node rac2 is being evicted in cluster\n")
    assert [line.code for log in read(node).logs for line in log.lines] == ["CRS-1607"]


def trace_line(second, text):
    at = (datetime.now() - timedelta(minutes=5)).replace(second=second)
    return f"{at:%Y-%m-%d %H:%M:%S}.123 :    CSSD:909854464: [     INFO] {text}\n"


FATAL = "clssnmPollingThread: node rac2 (2) at 50% heartbeat fatal, removal in 14.320 seconds"
NO_NETWORK = "clssnmvDHBValidateNCopy: node 2, rac2, has a disk HB, but no network HB, DHB has rcfg 295030317"


@pytest.mark.parametrize("path", [
    "/u01/app/grid/diag/crs/rac1/crs/trace/ocssd.trc", "/u01/app/19.0.0/grid/log/rac1/cssd/ocssd.log",
])  # fmt: skip
def test_listed_lines_of_a_trace_are_read_and_of_what_css_repeats_one_second_in_ten(node, path):
    repeated = "".join(trace_line(second, NO_NETWORK) for second in range(9, 32))
    write(node, path, f"{trace_line(5, 'clssgmQueueGrockEvent: secret')}{repeated}{trace_line(33, FATAL)}")
    (trace,) = [log for log in read(node).logs if log.kind.is_trace]
    assert (trace.kind, trace.owner) == (LogKind.OCSSD, "rac1")
    assert [line.code for line in trace.lines] == [*["disk HB, but no network HB"] * 3, "heartbeat at 50%"]


def test_a_trace_is_bounded_as_an_alert_log_is(node):
    noise = trace_line(5, f"clssnmSendingThread: sending status msg to all nodes {'x' * 2000}") * 1000
    old, new = trace_line(6, FATAL), trace_line(7, FATAL.replace("50%", "90%"))
    write(node, "/u01/app/grid/diag/crs/rac1/crs/trace/ocssd.trc", old + noise + new * 500)
    (trace,) = [log for log in read(node).logs if log.kind.is_trace]
    assert {line.code for line in trace.lines} == {"heartbeat at 90%"}
    assert len(trace.lines) == 120


def test_a_huge_binary_and_truncated_log_is_read_from_its_end(node):
    line = f"{stamp()[:23].replace('T', ' ')} [OCSSD(7)]CRS-1612: Network communication with node rac2 (2)\n".encode()
    noise = bytes(range(256)) * 40 + b"\n"
    write(node, CRS, line * 10 + noise * 400 + line + b"\0\xff\xfe" + line * 500 + b"2026-11-2")
    (log,) = [log for log in read(node).logs if log.kind is LogKind.CLUSTERWARE]
    assert 50 < len(log.lines) <= 120


def test_a_file_system_that_hangs_costs_the_time_limit_and_leaves_nothing_in_the_shell(node):
    pipe = node / PROD.lstrip("/")
    pipe.unlink()
    os.mkfifo(pipe)
    write(node, CRS, f"{stamp()[:23].replace('T', ' ')} [OCSSD(7)]CRS-1609: This node is unable to communicate\n")
    found = read(node, limit_s=1)
    assert found.cut == f"they took over {LOGS_LIMIT_S} s"
    assert [line.code for log in found.logs for line in log.lines if log.owner == "rac1"] == ["CRS-1609"]
    os.close(os.open(pipe, os.O_WRONLY))  # the file system answers again


@pytest.mark.skipif(os.geteuid() == 0, reason="root may list every directory")
def test_a_closed_directory_is_named(node):
    closed = node / "u01/app/oracle/diag/rdbms"
    closed.chmod(0)
    try:
        assert read(node).closed == (str(closed),)
    finally:
        closed.chmod(0o755)
