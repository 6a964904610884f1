"""Without a connection: the databases on this node, and the commands to connect. No database is queried."""

import os
import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from checks.model.journal import Journal
from checks.model.settings import ClusterSettings
from checks.sources.clusterware.managed import DefaultServices
from checks.sources.database import connect_proposal
from checks.sources.database.connect_proposal import proposal
from checks.sources.database.local_instances import (
    LocalInstance,
    home_of,
    listed_instances,
    local_instances,
    parse_oratab,
    running_instances,
)

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


def test_running_instances_are_proposed_by_their_default_service_and_as_the_owner_of_the_home():
    running = [LocalInstance("prod1", "/u01/db", "oracle"), LocalInstance("test1", "", "oracle")]
    services = DefaultServices({"prod1": "prod_fra.example.com", "test1": "test"})
    found = proposal(running, [], services)
    assert found.reason == "No database connection is set; prod1 and test1 run here."
    assert found.commands == (
        "racwire grants   # the script for a user that can only read; in a container database --user C##RACWIRE",
        "racwire check --connect SCAN:1521/prod_fra.example.com --user RACWIRE",
        "racwire check --connect SCAN:1521/test --user RACWIRE",
        "sudo -u oracle env ORACLE_HOME=/u01/db ORACLE_SID=prod1 LD_LIBRARY_PATH=/u01/db/lib "
        "racwire check --os-auth --sysdba",
        "sudo -u oracle env ORACLE_HOME=ORACLE_HOME_OF_THE_INSTANCE ORACLE_SID=test1 "
        "LD_LIBRARY_PATH=ORACLE_HOME_OF_THE_INSTANCE/lib racwire check --os-auth --sysdba",
    )


def test_an_unknown_service_is_not_guessed():
    found = proposal([LocalInstance("prod1", "/u01/db", "oracle")], [], DefaultServices({}, "srvctl hangs."))
    assert found.reason == (
        "No database connection is set; prod1 runs here. racwire does not know the service of prod1: srvctl hangs."
    )
    assert found.commands[1:4] == (
        "lsnrctl services   # as the owner of the Grid home: the services that the listener of this node knows",
        "srvctl config service -d DB_UNIQUE_NAME   # the services of a database in Clusterware",
        "racwire check --connect SCAN:1521/SERVICE --user RACWIRE",
    )


def test_the_owner_of_the_home_needs_no_sudo():
    import pwd

    me = pwd.getpwuid(os.geteuid()).pw_name
    found = proposal([LocalInstance("p1", "/h", me)], [], DefaultServices({"p1": "p"}))
    assert found.commands[-1].startswith("ORACLE_HOME=/h ORACLE_SID=p1 ")


def test_without_running_instances_oratab_is_suggested_and_without_oratab_nothing():
    found = proposal([], [LocalInstance("prod", "/h"), LocalInstance("prod", "/h")], DefaultServices({}))
    assert found.reason == "No database connection is set; oratab lists prod, but no instance of that list runs here."
    assert found.commands[0].startswith("srvctl config service -d DB_UNIQUE_NAME")
    nothing = proposal([], [], DefaultServices({}))
    assert "racwire found no instance on this node" in nothing.reason
    assert nothing.commands == ("racwire check --connect SCAN:1521/SERVICE --user RACWIRE",)


async def test_srvctl_is_queried_only_where_an_instance_runs(monkeypatch):
    queried = []

    async def services(home, sids, journal, local_host, *, timeout_s):
        queried.append(list(sids))
        return DefaultServices({"prod1": "prod.example.com"})

    monkeypatch.setattr(connect_proposal, "read_default_services", services)
    monkeypatch.setattr(connect_proposal, "listed_instances", lambda: iter(()))
    monkeypatch.setattr(connect_proposal, "local_instances", tuple)
    await connect_proposal.propose_connection(ClusterSettings(), Journal(), "rac1")
    assert queried == []
    monkeypatch.setattr(connect_proposal, "local_instances", lambda: (LocalInstance("prod1", "/h", "oracle"),))
    found = await connect_proposal.propose_connection(ClusterSettings(), Journal(), "rac1")
    assert queried == [["prod1"]]
    assert "racwire check --connect SCAN:1521/prod.example.com --user RACWIRE" in found.commands
