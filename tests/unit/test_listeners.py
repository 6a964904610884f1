"""The listeners of a node and the SCAN: the answers of lsnrctl and srvctl."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.facts import Unknown
from checks.model.journal import Journal
from checks.sources.clusterware.listeners import (
    ClientAddress,
    ListenerStatus,
    ServedService,
    listener_names,
    parse_listener,
    parse_scan_name,
    parse_scan_port,
    read_listeners,
    read_scan,
)
from checks.sources.nodes.read_only import ChangingCommandError, demand_read_only_command
from tests.unit.test_managed import tools

STATUS = """\

LSNRCTL for Linux: Version 19.0.0.0.0 - Production on 23-NOV-2026 08:00:01

Copyright (c) 1991, 2023, Oracle.  All rights reserved.

Connecting to (DESCRIPTION=(ADDRESS=(PROTOCOL=IPC)(KEY=LISTENER)))
STATUS of the LISTENER
------------------------
Alias                     LISTENER
Version                   TNSLSNR for Linux: Version 19.0.0.0.0 - Production
Security                  ON: Local OS Authentication
Listening Endpoints Summary...
  (DESCRIPTION=(ADDRESS=(PROTOCOL=ipc)(KEY=LISTENER)))
  (DESCRIPTION=(ADDRESS=(PROTOCOL=tcp)(HOST=10.0.0.1)(PORT=1521)))
  (DESCRIPTION=(ADDRESS=(PROTOCOL=tcps)(HOST=10.0.0.11)(PORT=2484))(Presentation=HTTP)(Session=RAW))
Services Summary...
{services}The command completed successfully
"""
RAC = """\
Service "+ASM" has 1 instance(s).
  Instance "+ASM1", status READY, has 1 handler(s) for this service...
Service "-MGMTDBXDB" has 1 instance(s).
  Instance "-MGMTDB", status READY, has 1 handler(s) for this service...
Service "86b637b62fdf7a65e053f706e80a27ca.example.com" has 1 instance(s).
  Instance "prod1", status READY, has 1 handler(s) for this service...
Service "_mgmtdb" has 1 instance(s).
  Instance "-MGMTDB", status READY, has 1 handler(s) for this service...
Service "prod.example.com" has 2 instance(s).
  Instance "prod1", status UNKNOWN, has 1 handler(s) for this service...
  Instance "prod1", status READY, has 2 handler(s) for this service...
Service "prodXDB.example.com" has 1 instance(s).
  Instance "prod1", status READY, has 1 handler(s) for this service...
Service "prod_CFG.example.com" has 1 instance(s).
  Instance "prod1", status READY, has 1 handler(s) for this service...
Service "prod_DGMGRL.example.com" has 1 instance(s).
  Instance "prod1", status UNKNOWN, has 1 handler(s) for this service...
Service "web" has 1 instance(s).
  Instance "prod1", status BLOCKED, has 1 handler(s) for this service...
"""


def test_the_services_and_endpoints_of_a_listener_are_read():
    found = parse_listener("LISTENER", STATUS.format(services=RAC))
    assert isinstance(found, ListenerStatus)
    assert list(map(str, found.endpoints)) == ["10.0.0.1:1521", "tcps://10.0.0.11:2484"]
    assert [service for service in found.services if service.is_for_clients] == [
        ServedService("prod.example.com", "prod1", "UNKNOWN"),
        ServedService("prod.example.com", "prod1", "READY"),
        ServedService("web", "prod1", "BLOCKED"),
    ]
    assert len(found.services) == 10


def test_a_listener_without_services_is_an_answer():
    text = STATUS.format(services="").replace("Services Summary...", "The listener supports no services")
    assert parse_listener("LISTENER", text).services == ()


@pytest.mark.parametrize(
    ("printed", "reason"),
    [
        ("TNS-12541: TNS:no listener\n TNS-12560: TNS:protocol adapter error", "TNS-12541: TNS:no listener"),
        ("TNS-01189: The listener could not authenticate the user", "TNS-01189"),
        ("TNS-01169: The listener has not recognized the password", "TNS-01169"),
        ("", "printed nothing"),
        ("what?", "a format that racwire does not know"),
    ],
)
def test_a_listener_that_does_not_answer_is_unknown(printed, reason):
    found = parse_listener("LISTENER", printed)
    assert isinstance(found, Unknown)
    assert reason in found.reason


@pytest.mark.parametrize(
    ("printed", "name"),
    [
        ("SCAN name: rac-scan, Network: 1\nSubnet IPv4: 10.0.0.0/255.255.255.0/eth0, static", "rac-scan"),
        ("SCAN name: scan.example.com, Network: 1/10.100.10.0/255.255.255.0/eth1", "scan.example.com"),
        ("PRCR-1068 : Failed to query resources\nCRS-0184 : Cannot communicate with the CRS daemon.", None),
        ("", None),
    ],
)
def test_the_scan_is_read(printed, name):
    found = parse_scan_name(printed)
    assert found == name if name else isinstance(found, Unknown)


@pytest.mark.parametrize(
    ("printed", "port"),
    [
        ("SCAN Listeners for network 1:\nEndpoints: TCP:1521\nSCAN Listener LISTENER_SCAN1 exists", (1521, False)),
        ("SCAN Listener LISTENER_SCAN1 exists. Port: TCP:1525\nRegistration invited nodes:", (1525, False)),
        ("Endpoints: TCPS:2484/TCP:1526", (1526, False)),
        ("Endpoints: TCPS:2484", (2484, True)),
        ("Endpoints: ", None),
    ],
)
def test_the_port_of_the_scan_is_read(printed, port):
    found = parse_scan_port(printed)
    assert found == port if port else isinstance(found, Unknown)


def test_the_listeners_of_the_grid_home_are_found_by_their_processes(tmp_path):
    home, other = str(tmp_path), "/u01/app/oracle/db"
    running = [
        [f"{home}/bin/tnslsnr", "LISTENER_SCAN1", "-no_crs_notify", "-inherit"],
        [f"{home}/bin/tnslsnr", "LISTENER", "-no_crs_notify", "-inherit"],
        [f"{home}/bin/tnslsnr", "ASMNET1LSNR_ASM", "-no_crs_notify", "-inherit"],
        [f"{home}/bin/tnslsnr", "MGMTLSNR", "-no_crs_notify", "-inherit"],
        [f"{home}/bin/tnslsnr", "(ADDRESS=(HOST=elsewhere))"],
        [f"{other}/bin/tnslsnr", "LISTENER_DB", "-inherit"],
        ["tnslsnr"],
        [],
    ]
    assert listener_names(home, running) == ("LISTENER", "LISTENER_SCAN1")
    assert listener_names(home, []) == ("LISTENER",)
    many = [[f"{home}/bin/tnslsnr", f"L{n}"] for n in range(9)]
    assert len(listener_names(home, many)) == 4


@pytest.mark.parametrize(
    "words",
    [("stop", "LISTENER"), ("reload",), ("status", "-h"), ("status", "(ADDRESS=(HOST=x))"), ("status", "host.example")],
)
def test_only_the_status_of_a_named_listener_may_be_queried(words):
    with pytest.raises(ChangingCommandError):
        demand_read_only_command(["/u01/grid/bin/lsnrctl", *words], "rac1")
    demand_read_only_command(["/u01/grid/bin/lsnrctl", "status", "LISTENER_SCAN1"], "rac1")


DOWN = "printf 'LSNRCTL for Linux: Version 19\\nTNS-12541: TNS:no listener\\n'; exit 1"


async def test_a_listener_that_is_down_leaves_the_others(tmp_path):
    up = """case $2 in DOWN) printf 'TNS-12541: TNS:no listener\\n'; exit 1 ;; esac
    printf 'Service "prod" has 1 instance(s).\\n Instance "prod1", status READY, has 1 handler(s)\\n'"""
    found = await read_listeners(tools(tmp_path, Journal(), lsnrctl=up), lambda _: ("DOWN", "UP"))
    assert [listener.name for listener in found] == ["UP"]


async def test_the_reason_of_a_listener_is_its_message_and_not_its_version(tmp_path):
    journal = Journal()
    found = await read_listeners(tools(tmp_path, journal, lsnrctl=DOWN), lambda _: ("LISTENER",))
    assert isinstance(found, Unknown)
    assert '"TNS-12541: TNS:no listener"' in found.reason
    assert journal.entries[0].topic == "lsnrctl status LISTENER"


async def test_the_scan_has_port_1521_where_its_listener_is_not_known(tmp_path):
    srvctl = 'case "$*" in "config scan") echo "SCAN name: s, Network: 1" ;; *) exit 1 ;; esac'
    assert await read_scan(tools(tmp_path, Journal(), srvctl=srvctl)) == ClientAddress("s", 1521)


async def test_a_scan_that_srvctl_does_not_know_is_unknown(tmp_path):
    assert isinstance(await read_scan(tools(tmp_path, Journal(), srvctl="exit 1")), Unknown)


words = st.lists(
    st.sampled_from(['Service "a"', 'Instance "b", status', "READY,", "has 1 instance(s).", "\n", "SCAN name:", "x-1",
                     "Endpoints:", "TCP:1521", "TNS-1:", "(PROTOCOL=tcp)(HOST=h)(PORT=99999)"]),
    max_size=12,
).map(" ".join)  # fmt: skip


@given(words)
def test_any_output_is_parsed_or_unknown(text):
    assert isinstance(parse_listener("L", text), ListenerStatus | Unknown)
    assert isinstance(parse_scan_name(text), str | Unknown)
    assert isinstance(parse_scan_port(text), tuple | Unknown)
