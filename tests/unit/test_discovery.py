"""Without a connection: the databases on this node, and the commands to connect. No database is queried."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.facts import MissingRight, Unknown
from checks.model.journal import Journal
from checks.model.settings import ClusterSettings
from checks.sources.clusterware.listeners import ClientAddress, ListenerStatus, ServedService
from checks.sources.clusterware.managed import DatabaseConfiguration, KnownDatabases
from checks.sources.database import connect_proposal
from checks.sources.database.connect_proposal import ProposalFacts, name_served_services, proposal
from checks.sources.database.local_instances import (
    LocalInstance,
    home_of,
    listed_instances,
    local_instances,
    parse_oratab,
    running_instances,
)
from checks.sources.database.service_choice import served_services

ORATAB = """\
# a comment
+ASM1:/u01/app/19.0.0/grid:N
-MGMTDB:/u01/app/19.0.0/grid:N
prod:/u01/app/oracle/product/19.0.0/db:N   # added by the agent
test1:/u01/app/oracle/product/21.0.0/db:Y
broken
:/nowhere:N
*:/star/is/not/absent:N
relative:home:N
"""


def test_oratab_lists_databases_without_asm_and_the_management_repository():
    assert [(i.sid, i.home) for i in parse_oratab(ORATAB)] == [
        ("prod", "/u01/app/oracle/product/19.0.0/db"),
        ("test1", "/u01/app/oracle/product/21.0.0/db"),
        ("*", "/star/is/not/absent"),
    ]


@given(st.text())
def test_any_oratab_is_parsed(text):
    for instance in parse_oratab(text):
        assert instance.sid
        assert instance.home.startswith("/")


def test_an_instance_of_rac_has_the_home_of_its_database():
    listed = {"prod": "/h1", "test1": "/h2"}
    assert (home_of("prod2", listed), home_of("prod_1", listed), home_of("test1", listed)) == ("/h1", "/h1", "/h2")
    assert home_of("other1", listed) == ""


def test_both_locations_of_oratab_are_read(tmp_path):
    for file, line in (("etc/oratab", "a:/a:N"), ("var/opt/oracle/oratab", "b:/b:N")):
        (tmp_path / file).parent.mkdir(parents=True)
        (tmp_path / file).write_text(f"{line}\n")
    assert [i.sid for i in listed_instances(tmp_path)] == ["a", "b"]


def test_an_instance_whose_process_does_not_show_its_home_has_the_home_of_oratab(tmp_path):
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/oratab").write_text("prod:/u01/db:N\n")
    running = [LocalInstance("prod2", "", "oracle"), LocalInstance("prod1", "/seen", "oracle")]
    found = local_instances(tmp_path, lambda: iter(running))
    assert [(i.sid, i.home) for i in found] == [("prod1", "/seen"), ("prod2", "/u01/db")]


def test_running_instances_are_found_by_their_process_without_asm(tmp_path):
    program = "print(flush=True); import time; time.sleep(60)"
    started = []
    try:
        for name in ("ora_pmon_racwiretest1", "asm_pmon_+ASM1", "ora_pmon_-MGMTDB"):
            command = ["bash", "-c", f"exec -a {name} {sys.executable} -c '{program}'"]
            started.append(subprocess.Popen(command, stdout=subprocess.PIPE))
        for process in started:
            process.stdout.readline()
        found = {i.sid: i for i in local_instances(tmp_path, running_instances)}
        assert found["racwiretest1"].owner
        assert not [sid for sid in found if "ASM" in sid or "MGMT" in sid]
    finally:
        for process in started:
            process.kill()
            process.wait()
            process.stdout.close()


PROD = DatabaseConfiguration("prod_fra", "example.com", ("prod1", "prod2"), frozenset({"prod"}), "RAC", "PRIMARY")
TEST = DatabaseConfiguration("test", "", ("test1",), frozenset({"test"}), "RAC", "PRIMARY")
CRM = DatabaseConfiguration("crm", "", ("crm",), frozenset({"crm"}), "SINGLE", "PRIMARY")
NO_ANSWER = Unknown("no listener answers")
PROD1 = LocalInstance("prod1", "/u01/db", "oracle")


def facts(databases=None, reason="", scan="rac-scan", listeners=NO_ANSWER, elsewhere=()):
    return ProposalFacts(
        KnownDatabases(databases or {}, reason),
        ClientAddress(scan, 1521) if scan else Unknown("srvctl hangs."),
        listeners,
        elsewhere,
    )


def listener(*services, name="LISTENER", host="10.0.0.1"):
    """A listener that serves these services: (name, instance) or (name, instance, status)."""
    served = tuple(ServedService(*service, *["READY"][len(service) - 2 :]) for service in services)
    return ListenerStatus(name, (ClientAddress(host, 1521),), served)


def test_running_instances_are_proposed_by_their_default_service_and_as_the_owner_of_the_home():
    running = [PROD1, LocalInstance("test1", "", "oracle")]
    found = proposal(running, [], facts({"prod1": PROD, "test1": TEST}))
    assert found.reason == "No database connection is set; prod1 and test1 run here."
    assert found.commands == (
        "racwire grants   # the script for a user that can only read; in a container database --user C##RACWIRE",
        "racwire check --connect rac-scan:1521/prod_fra.example.com --user RACWIRE",
        "racwire check --connect rac-scan:1521/test --user RACWIRE",
        "sudo -u oracle env ORACLE_HOME=/u01/db ORACLE_SID=prod1 LD_LIBRARY_PATH=/u01/db/lib "
        "racwire check --os-auth --sysdba",
        "sudo -u oracle env ORACLE_HOME=ORACLE_HOME_OF_THE_INSTANCE ORACLE_SID=test1 "
        "LD_LIBRARY_PATH=ORACLE_HOME_OF_THE_INSTANCE/lib racwire check --os-auth --sysdba",
    )


def test_the_home_of_an_instance_comes_from_srvctl_where_its_process_and_oratab_do_not_name_it():
    found = proposal([LocalInstance("prod1", "", "oracle")], [], facts({"prod1": replace(PROD, home="/u01/db19")}))
    assert "env ORACLE_HOME=/u01/db19 ORACLE_SID=prod1 LD_LIBRARY_PATH=/u01/db19/lib racwire" in found.commands[-1]


def connects(found):
    return [c.split("--connect ")[1].split(" --user")[0] for c in found.commands if "--connect" in c]


@pytest.mark.parametrize(
    ("services", "proposed", "said"),
    [
        ([("prod_fra.example.com", "prod1")], ["rac-scan:1521/prod_fra.example.com"], ""),
        (
            [("prod_fra.example.com", "prod1"), ("pdb1.example.com", "prod1"), ("prod_fraXDB.example.com", "prod1")],
            ["rac-scan:1521/prod_fra.example.com"],
            " The listener also serves pdb1.example.com for prod1.",
        ),
        (
            [("prod_fra.example.com", "prod1", "BLOCKED")],
            ["rac-scan:1521/prod_fra.example.com"],
            " The listener has the service prod_fra.example.com of prod1 as BLOCKED, not as READY.",
        ),
        (
            [("prod_fra.world", "prod1"), ("app", "prod1")],
            ["rac-scan:1521/prod_fra.world"],
            " srvctl names the default service of prod1 prod_fra.example.com; the listener serves prod_fra.world.",
        ),
        (
            [("app", "prod1"), ("web", "prod1"), ("other", "test1")],
            ["rac-scan:1521/app", "rac-scan:1521/web"],
            " The listener does not serve prod_fra.example.com, the default service of prod1. The listener serves app "
            "and web for prod1.",
        ),
        (
            [("other", "test1")],
            ["rac-scan:1521/prod_fra.example.com"],
            " The listeners of this node serve no service of prod1: check its parameters local_listener and "
            "remote_listener.",
        ),
    ],
)
def test_what_the_listener_serves_is_proposed(services, proposed, said):
    found = proposal([PROD1], [], facts({"prod1": PROD}, listeners=(listener(*services),)))
    assert connects(found) == proposed
    assert found.reason == f"No database connection is set; prod1 runs here.{said}"


def test_without_srvctl_the_services_of_the_listener_are_proposed_at_its_own_address():
    served = (listener(("web", "prod1"), ("prod.x", "prod1"), ("+ASM", "+ASM1"), ("prod_CFG", "prod1")),)
    found = proposal([PROD1], [], facts(reason="srvctl hangs.", scan="", listeners=served))
    assert found.reason == (
        "No database connection is set; prod1 runs here. racwire does not know the default service of prod1: srvctl "
        "hangs. The listener serves prod.x and web for prod1."
    )
    assert connects(found) == ["10.0.0.1:1521/prod.x", "10.0.0.1:1521/web"]


def test_an_unknown_service_is_not_guessed():
    found = proposal([PROD1], [], facts(reason="srvctl hangs.", scan=""))
    assert found.reason == (
        "No database connection is set; prod1 runs here. racwire does not know the default service of prod1: srvctl "
        "hangs."
    )
    assert found.commands[1:4] == (
        "lsnrctl status   # as the owner of the Grid home: the services that the listener of this node serves",
        "srvctl config service -d DB_UNIQUE_NAME   # the services of a database in Clusterware",
        "racwire check --connect SCAN:1521/SERVICE --user RACWIRE",
    )


def test_a_database_with_one_instance_is_named_and_not_proposed():
    crm = LocalInstance("crm", "/u01/db", "oracle")
    both = proposal([crm, PROD1], [], facts({"crm": CRM, "prod1": PROD}))
    assert connects(both) == ["rac-scan:1521/prod_fra.example.com"]
    assert not [command for command in both.commands if "ORACLE_SID=crm" in command]
    assert both.reason.endswith("crm and prod1 run here. crm has one instance and uses no interconnect.")
    elsewhere = proposal([crm], [], facts({"crm": CRM}, elsewhere=(PROD,)))
    assert elsewhere.reason.endswith("crm has one instance and uses no interconnect. Clusterware manages prod_fra.")
    assert connects(elsewhere) == ["rac-scan:1521/prod_fra.example.com"]
    alone = proposal([crm], [], facts({"crm": CRM}))
    assert alone.commands == ("racwire check --connect SCAN:1521/SERVICE --user RACWIRE",)


def test_a_standby_is_named():
    standby = replace(PROD, role="PHYSICAL_STANDBY")
    found = proposal([PROD1], [], facts({"prod1": standby}))
    assert "as PHYSICAL_STANDBY: a standby that is mounted and not open accepts only SYSDBA." in found.reason
    assert found.commands[-1].endswith("racwire check --os-auth --sysdba")


def test_a_node_without_an_instance_proposes_the_databases_of_the_cluster():
    asm = (listener(("+ASM", "+ASM1")),)
    found = proposal([], [LocalInstance("prod", "/h")], facts(elsewhere=(PROD,), listeners=asm))
    assert found.reason == ("No database connection is set, and no instance runs here; Clusterware manages prod_fra.")
    assert connects(found) == ["rac-scan:1521/prod_fra.example.com"]
    assert not [command for command in found.commands if "--os-auth" in command]
    other = (listener(("prod_fra.world", "prod2"), name="LISTENER_SCAN1"),)
    assert connects(proposal([], [], facts(elsewhere=(PROD,), listeners=other))) == ["rac-scan:1521/prod_fra.world"]


def test_the_owner_of_the_home_needs_no_sudo():
    import pwd

    me = pwd.getpwuid(os.geteuid()).pw_name
    found = proposal([LocalInstance("p1", "/h", me)], [], facts({"p1": TEST}))
    assert found.commands[-1].startswith("ORACLE_HOME=/h ORACLE_SID=p1 ")


def test_without_running_instances_oratab_is_suggested_and_without_oratab_nothing():
    found = proposal([], [LocalInstance("prod", "/h"), LocalInstance("prod", "/h")], facts())
    assert found.reason == "No database connection is set; oratab lists prod, but no instance of that list runs here."
    assert found.commands[0].startswith("srvctl config service -d DB_UNIQUE_NAME")
    nothing = proposal([], [], facts())
    assert "racwire found no instance on this node" in nothing.reason
    assert nothing.commands == ("racwire check --connect SCAN:1521/SERVICE --user RACWIRE",)


async def test_without_a_grid_home_no_tool_is_started(monkeypatch):
    monkeypatch.setattr(connect_proposal, "listed_instances", lambda: iter(()))
    monkeypatch.setattr(connect_proposal, "local_instances", lambda: (PROD1,))
    journal = Journal()
    found = await connect_proposal.propose_connection(ClusterSettings(grid_home="/nonexistent"), journal, "rac1")
    assert "racwire does not know the default service of prod1: The Grid home /nonexistent" in found.reason
    assert journal.entries == []


SRVCTL = """\
case "$*" in
"config database") echo prod_fra ;;
"config database -d prod_fra")
    printf 'Database unique name: prod_fra\\nDomain: example.com\\nType: RAC\\nDatabase instances: prod1,prod2\\n' ;;
"config scan") echo 'SCAN name: rac-scan.example.com, Network: 1' ;;
"config scan_listener") echo 'SCAN Listener LISTENER_SCAN1 exists. Port: TCP:1525' ;;
esac"""
LSNRCTL = """\
printf 'Service "prod_fra.example.com" has 1 instance(s).\\n'
printf '  Instance "prod1", status READY, has 1 handler(s) for this service...\\n'"""


@pytest.fixture
def grid_home(tmp_path):
    (tmp_path / "bin").mkdir()
    for name, text in {"oifcfg": "", "srvctl": SRVCTL, "lsnrctl": LSNRCTL}.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    return str(tmp_path)


async def test_the_tools_of_the_grid_home_are_queried_once_each(monkeypatch, grid_home):
    monkeypatch.setattr(connect_proposal, "listed_instances", lambda: iter(()))
    monkeypatch.setattr(connect_proposal, "local_instances", lambda: (PROD1,))
    journal = Journal()
    found = await connect_proposal.propose_connection(ClusterSettings(grid_home=grid_home), journal, "rac1")
    assert connects(found) == ["rac-scan.example.com:1525/prod_fra.example.com"]
    assert sorted(entry.topic for entry in journal.entries) == [
        "lsnrctl status LISTENER",
        "srvctl config database",
        "srvctl config database prod_fra",
        "srvctl config scan",
        "srvctl config scan_listener",
    ]


@pytest.mark.parametrize(
    ("connect", "said"),
    [
        ("rac-scan:1521/prod_fra", "serves prod_fra.example.com. Use prod_fra.example.com."),
        ("rac-scan/PROD_FRA.world:dedicated", "Use prod_fra.example.com."),
        ("//rac-scan:1521/crm?expire_time=1", "On this node LISTENER serves prod_fra.example.com."),
        ("(DESCRIPTION=(CONNECT_DATA=(SERVICE_NAME=prod_fra)))", "Use prod_fra.example.com."),
        ("PROD_ALIAS", "On this node LISTENER serves prod_fra.example.com."),
    ],
)
async def test_a_service_that_the_listener_does_not_know_is_answered_with_those_it_serves(connect, said, grid_home):
    settings = ClusterSettings(grid_home=grid_home)
    failure = Unknown("The listener does not know the service (ORA-12514).", MissingRight("a right"))
    found = await name_served_services(failure, 12514, connect, settings, Journal(), "rac1")
    assert found.reason.startswith(failure.reason)
    assert found.reason.endswith(said)
    assert found.right == failure.right
    assert await name_served_services(failure, 1017, connect, settings, Journal(), "rac1") is failure
    missing = ClusterSettings(grid_home="/nonexistent")
    assert await name_served_services(failure, 12514, connect, missing, Journal(), "rac1") is failure


def test_the_listener_that_serves_the_wanted_service_is_named_with_its_address():
    scan = listener(("prod", "prod2"), name="LISTENER_SCAN1", host="10.0.0.100")
    own = listener(("+ASM", "+ASM1"), ("PROD", "prod2", "BLOCKED"))
    assert served_services((own, scan), "prod") == (
        "On this node LISTENER_SCAN1 serves prod. Connect to 10.0.0.100:1521/prod (LISTENER_SCAN1)."
    )
    assert served_services((own,), "prod") == ""
