"""The databases and backups of Clusterware: the answers of srvctl and ocrconfig, and the files that a change leaves."""

import tarfile

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.facts import ArchiveSeen, FileSeen, GridHome, Managed, ManagedDatabase, OcrBackup, Unknown, VotingFile
from checks.model.journal import Journal
from checks.model.settings import Settings
from checks.run import gathering
from checks.sources.clusterware.grid_tools import GridTools
from checks.sources.clusterware.managed import (
    DatabaseConfiguration,
    KnownDatabases,
    parse_database_configuration,
    parse_database_status,
    parse_databases,
    parse_voting_files,
    read_known_databases,
    read_managed,
    read_rac_databases,
)
from checks.sources.entries import Program
from checks.sources.nodes.backup_files import (
    parse_archive,
    parse_manual_backups,
    read_archive,
    read_change_files,
    read_olr_backup,
)
from checks.sources.nodes.session import Session
from checks.sources.nodes.shell import Completed, Shell
from tests.fixtures.clusters import cluster

BACKUPS = """\

rac1     2026/11/20 09:18:49     /u01/app/19.0.0/grid/cdata/prodrac/backup_20261120_091849.ocr

rac2     2026/11/21 17:02:03     +OCR:/prodrac/OCRBACKUP/backup_20261121_170203.ocr.258.1236208637     724960844

rac2     2026/09/01 10:00:00     +OCR:/prodrac/OCRBACKUP/backup_20260901_100000.ocr.261.1208208637     724960844
"""
NEWEST = OcrBackup("rac2", "2026-11-21T17:02:03", "+OCR:/prodrac/OCRBACKUP/backup_20261121_170203.ocr.258.1236208637")


def test_the_newest_backup_counts_at_any_position_and_place():
    assert parse_manual_backups(BACKUPS) == NEWEST


def test_a_list_from_a_local_copy_is_a_valid_answer():
    local_copy = "PROT-26: Oracle Cluster Registry backup locations were retrieved from a local copy\n"
    assert parse_manual_backups(local_copy + BACKUPS) == NEWEST


@pytest.mark.parametrize(
    "none",
    [
        "PROT-25: Manual backups for the Oracle Cluster Registry are not available",
        "PROTL-25: No manual backups of the OLR are available at this time.",
    ],
)
def test_no_backup_is_a_valid_answer(none):
    assert parse_manual_backups(none) is None


@pytest.mark.parametrize("text", ["", "PROT-20: Insufficient permission to proceed. Require privileged user", "what?"])
def test_an_unexpected_answer_does_not_mean_no_backup(text):
    assert isinstance(parse_manual_backups(text), Unknown)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("prod\ncrm_stby\n", ("prod", "crm_stby")),
        ("", ()),
    ],
)
def test_databases_managed_by_clusterware_are_listed(text, expected):
    assert parse_databases(text) == expected


def test_a_failed_list_does_not_mean_no_database():
    down = "PRCR-1068 : Failed to query resources\nCRS-0184 : Cannot communicate with the CRS daemon."
    databases = parse_databases(down)
    assert isinstance(databases, Unknown)
    assert "PRCR-1068" in databases.reason
    assert isinstance(parse_databases("Usage: srvctl <command> <object>"), Unknown)


@pytest.mark.parametrize(
    ("text", "running", "stopped"),
    [
        (
            "Instance prod1 is running on node rac1\nInstance prod2 is not running on node rac2\n",
            (("prod1", "rac1"),),
            (("prod2", "rac2"),),
        ),
        ("Instance prod1 is running on node rac1. Instance status: Open.", (("prod1", "rac1"),), ()),
        ("Instance prod1 is running on node rac1 with online services crm,web. Instance status: Open.",
         (("prod1", "rac1"),), ()),
        # RAC One Node; a database of one instance; one that runs nowhere.
        ("Instance one_1 is running on node rac2\nOnline relocation: INACTIVE", (("one_1", "rac2"),), ()),
        ("Database is running.", (("prod", ""),), ()),
        ("Database is not running.", (), (("prod", ""),)),
    ],
)  # fmt: skip
def test_the_nodes_of_the_instances_of_a_database_are_read(text, running, stopped):
    status = parse_database_status("prod", text)
    assert (status.instances, status.not_running) == (running, stopped)


@pytest.mark.parametrize(
    ("text", "services"),
    [
        (
            "Instance prod1 is running on node rac1 with online services crm,web. Instance status: Open.\n"
            "Instance prod2 is running on node rac2 with online service crm. Instance status: Open,Readonly.\n",
            (("crm", "rac1"), ("web", "rac1"), ("crm", "rac2")),
        ),
        ("Instance prod1 is running on node rac1 with online services crm.corp.example",
         (("crm.corp.example", "rac1"),)),
        ("Instance prod1 is running on node rac1. Instance status: Open.", ()),
        ("Instance prod1 is running on node rac1", ()),
        ("Database prod is running with online services crm", (("crm", ""),)),
    ],
)  # fmt: skip
def test_the_services_of_each_instance_are_read(text, services):
    assert parse_database_status("prod", text).services == services


def test_a_database_of_an_older_release_is_unknown_to_this_srvctl():
    refused = "PRCD-1229 : An attempt to access configuration of database prod was rejected because its version differs"
    status = parse_database_status("prod", refused)
    assert isinstance(status, Unknown)
    assert "PRCD-1229" in status.reason


def tools(tmp_path, journal, **programs):
    """The tools of a Grid home with these programs, each the text of a shell script."""
    (tmp_path / "bin").mkdir()
    for name, text in programs.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    return GridTools(GridHome(str(tmp_path), "settings", "grid"), journal, "rac1", {})


async def test_one_tool_that_fails_leaves_only_its_own_fact_unknown(tmp_path):
    srvctl = (
        'case "$*" in "config database") printf "prod\\nold\\n" ;; '
        '*" prod -v") echo Instance prod1 is running on node rac1 ;; '
        "*) echo PRCD-1229 : An attempt to access configuration of database old was rejected; exit 1 ;; esac"
    )
    journal = Journal()
    managed = await read_managed(tools(tmp_path, journal, srvctl=srvctl, ocrconfig="exit 1"))
    assert isinstance(managed, Managed)
    prod, old = managed.databases
    assert prod == ManagedDatabase("prod", (("prod1", "rac1"),))
    assert (old.name, isinstance(old.instances, Unknown)) == ("old", True)
    assert isinstance(managed.ocr_backup, Unknown)
    assert {e.topic for e in journal.entries} >= {"srvctl config database", "srvctl status database old"}


CONFIGURATION = """\
Database unique name: {unique}
Database name: {name}
Oracle home: /u01/app/oracle/product/19.0.0/dbhome_1
Oracle user: oracle
Spfile: +DATA/PROD/PARAMETERFILE/spfile.269.1063135725
Password file:
Domain: {domain}
Start options: open
Database role: PRIMARY
Services: crm,web
Type: RAC
OSDBA group: dba
{instances}
Configured nodes: rac1,rac2
Database is administrator managed
"""
"""In the layout of 19c; 11.2 prints fewer lines, and no `Configured nodes`."""


def configuration(unique="prod_fra", name="prod", domain="example.com", instances="Database instances: prod1,prod2"):
    return CONFIGURATION.format(unique=unique, name=name, domain=domain, instances=instances)


def configured(**names):
    found = parse_database_configuration("prod_fra", configuration(**names))
    assert isinstance(found, DatabaseConfiguration)
    return found


def test_the_default_service_is_the_unique_name_with_the_domain():
    assert configured().default_service == "prod_fra.example.com"
    assert configured(domain="").default_service == "prod_fra"
    assert configured(unique="BM21GPRO", domain="world").default_service == "BM21GPRO.world"


@pytest.mark.parametrize(
    ("names", "sid", "belongs"),
    [
        ({}, "prod2", True),
        ({}, "PROD2", True),
        ({}, "prod3", False),  # the list is complete
        ({"instances": "Database instance: PROD"}, "PROD", True),
        # Policy-managed databases and RAC One Node have no list: Clusterware makes the names.
        ({"instances": "Database instances:"}, "prod_1", True),
        ({"instances": "Database instances:"}, "test_1", False),
        ({"instances": "Instance name prefix: one"}, "one_2", True),
        ({"instances": "", "unique": "warehouse_fra", "name": ""}, "warehous1", True),
    ],
)
def test_an_instance_belongs_to_the_database_that_lists_it_or_whose_name_it_has(names, sid, belongs):
    assert configured(**names).has_instance(sid) is belongs


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("PRCD-1229 : An attempt to access configuration of database old was rejected", "PRCD-1229"),
        ("", "printed nothing"),
        ("Usage: srvctl <command>", "a format that racwire does not know"),
        (configuration(unique=""), "a format that racwire does not know"),
        (configuration(domain="example.com; rm -rf /"), "a format that racwire does not know"),
    ],
)
def test_another_answer_is_no_configuration(text, reason):
    found = parse_database_configuration("old", text)
    assert isinstance(found, Unknown)
    assert reason in found.reason


def srvctl(**databases):
    """A srvctl that knows these databases: the name, and the printed configuration."""
    cases = "".join(f"'config database -d {name}') cat <<'END'\n{text}\nEND\n;;\n" for name, text in databases.items())
    return f"case \"$*\" in 'config database') printf '%s\\n' {' '.join(databases)} ;;\n{cases}*) exit 1 ;; esac"


async def test_services_are_found_for_each_instance_and_likely_databases_come_first(tmp_path):
    others = {f"a{n}": configuration(f"a{n}", f"a{n}", "", f"Database instances: a{n}1") for n in range(9)}
    journal = Journal()
    known = tools(tmp_path, journal, srvctl=srvctl(**others, prod_fra=configuration()))
    found = await read_known_databases(known, ["prod1"])
    assert found == KnownDatabases({"prod1": configured()})
    assert found.by_sid["prod1"].default_service == "prod_fra.example.com"
    assert [e.topic for e in journal.entries] == ["srvctl config database", "srvctl config database prod_fra"]

    found = await read_known_databases(known, ["prod1", "zz1"])
    assert list(found.by_sid) == ["prod1"]
    assert found.reason == "The first 4 of 10 databases in Clusterware have no such instance."


@pytest.mark.parametrize(
    ("programs", "reason"),
    [
        ({"srvctl": srvctl(prod=configuration())}, "Clusterware manages no database with such an instance."),
        ({"srvctl": "exit 0"}, "Clusterware manages no database."),
        ({"srvctl": "echo PRCR-1068 : Failed to query resources; exit 1"}, "PRCR-1068"),
        ({"srvctl": srvctl(zz="PRCD-1229 : An attempt was rejected")}, "PRCD-1229"),
        ({}, "srvctl"),
    ],
)
async def test_why_a_service_is_not_known_is_a_reason(programs, reason, tmp_path):
    found = await read_known_databases(tools(tmp_path, Journal(), **programs), ["zz1"])
    assert found.by_sid == {}
    assert reason in found.reason


async def test_the_rac_databases_of_a_cluster_are_found_without_an_instance(tmp_path):
    single = configuration("crm", "crm", "", "Database instance: crm").replace("Type: RAC", "Type: SINGLE")
    found = await read_rac_databases(tools(tmp_path, Journal(), srvctl=srvctl(crm=single, prod_fra=configuration())))
    assert [database.unique_name for database in found] == ["prod_fra"]
    assert parse_database_configuration("crm", single).is_single
    standby = configuration().replace("Database role: PRIMARY", "Database role: PHYSICAL_STANDBY")
    assert parse_database_configuration("prod_fra", standby).is_standby


async def test_without_clusterware_nothing_is_queried():
    without = msgspec.structs.replace(cluster(2), clusterware=Unknown("no Grid home"))
    assert await gathering._managed(Session(Settings(), Journal()), without) == Unknown("no Grid home")


@pytest.fixture
async def shell():
    held = await Shell.open_local("rac1")
    yield held
    await held.close()


async def test_an_existing_file_with_any_name_has_size_and_time(shell, tmp_path):
    there, absent = tmp_path / "it's a backup; $(date)", tmp_path / "absent"
    there.write_text("12345")
    files = await read_change_files(shell, Journal(), [str(there), str(absent)], 10)
    assert files[str(there)] == FileSeen(5, float(int(there.stat().st_mtime)))
    assert files[str(absent)] == Unknown(f"rac1 has no file {absent}.")


class Answers(Shell):
    """A node that gives one answer."""

    def __init__(self, text: str) -> None:
        self.node, self.text = "rac2", text

    async def run(self, program: Program, *arguments: str, timeout_s: float | None = None) -> Completed:
        return Completed(0, self.text)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (
            "##racwire olr\nrac2     2026/11/21 17:02:03     /u01/grid/cdata/rac2/backup_20261121_170203.olr     0\n"
            "##racwire end 0\n",
            OcrBackup("rac2", "2026-11-21T17:02:03", "/u01/grid/cdata/rac2/backup_20261121_170203.olr"),
        ),
        ("##racwire olr\nPROTL-25: No manual backups of the OLR are available at this time.\n##racwire end 0\n", None),
        ("##racwire olr\nnot found\n##racwire end 127\n",
         Unknown("the Grid home that olr.loc names has no ocrconfig")),
    ],
)  # fmt: skip
async def test_the_backup_of_the_registry_of_a_node_is_read(answer, expected):
    assert await read_olr_backup(Answers(answer), Journal(), 10) == expected


words = st.lists(
    st.sampled_from(["Instance", "x1", "is", "not", "running", "on", "node", "rac1", "\n", "PRCD-1 :", "Database", ".",
                     "2026/11/21", "17:02:03", "/x", "rac2", "99", "PROT-25:", "unique", "name:", "Domain:"]),
    max_size=12,
).map(" ".join)  # fmt: skip


@given(words)
def test_any_output_of_the_tools_is_parsed_or_unknown(text):
    assert isinstance(parse_databases(text), tuple | Unknown)
    assert isinstance(parse_database_status("prod", text), ManagedDatabase | Unknown)
    assert isinstance(parse_database_configuration("prod", text), DatabaseConfiguration | Unknown)
    assert isinstance(parse_manual_backups(text), OcrBackup | Unknown | None)


VOTING = """\
##  STATE    File Universal Id                File Name Disk group
--  -----    -----------------                --------- ---------
 1. ONLINE   7c54856e98474f61bf349401e7c9fb95 (/dev/sdb1) [DATA]
 2. OFFLINE  8c54856e98474f61bf349401e7c9fb95 (/voting/two) []
Located 2 voting disk(s).
"""


def test_voting_files_are_listed_with_state_and_disk_group():
    assert parse_voting_files(VOTING) == (
        VotingFile("ONLINE", "/dev/sdb1", "DATA"),
        VotingFile("OFFLINE", "/voting/two"),
    )
    assert isinstance(parse_voting_files("CRS-1665: maximum number of voting files"), Unknown)


async def test_an_archive_is_listed_and_a_cut_one_is_not_whole(tmp_path):
    whole, cut = tmp_path / "whole.tar.gz", tmp_path / "cut.tar.gz"
    (tmp_path / "ifcfg-eth1").write_text("MTU=9000\n")
    with tarfile.open(whole, "w:gz") as archive:
        archive.add(tmp_path / "ifcfg-eth1", "etc/ifcfg-eth1")
    cut.write_bytes(whole.read_bytes()[:60])
    shell, journal = await Shell.open_local("rac1"), Journal()
    try:
        assert await read_archive(shell, journal, str(whole), 10) == ArchiveSeen(("etc/ifcfg-eth1",))
        damaged = await read_archive(shell, journal, str(cut), 10)
        assert await read_archive(shell, journal, str(tmp_path / "none.tar.gz"), 10) is None
        directory = await read_archive(shell, journal, str(tmp_path), 10)
    finally:
        await shell.close()
    assert isinstance(damaged, ArchiveSeen)
    assert damaged.fault
    assert isinstance(directory, Unknown)
    assert directory.right


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("##racwire-archive-unreadable\n", "may not read"),
        ("etc/a\netc/b\n", "longer than racwire reads"),
        ("etc/a\n\n##racwire-archive-status 124\n", "not list it in time"),
        ("\n##racwire-archive-status 127\n", "lacks tar"),
    ],
)
def test_an_archive_that_was_not_listed_to_its_end_is_not_known(text, reason):
    seen = parse_archive("rac1", "/b/network.tar.gz", text)
    assert isinstance(seen, Unknown)
    assert reason in seen.reason
