"""racwire without a connection proposes one that works, on a cluster with DB_DOMAIN and a DB_UNIQUE_NAME of its own."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

import racwire_lab
from checks.model.finding import Status
from racwire_lab.cluster.topology import SCAN_NAME
from tests.lab.lab_support import grid, lab_directory, needs_namespaces
from tests.lab.practice_command import Practice

pytestmark = [
    needs_namespaces,
    pytest.mark.beyond_sample,
    pytest.mark.skipif(
        any(find_spec(name) is None for name in ("duckdb", "sqlglot", "cryptography")),
        reason="THE PROPOSED CONNECTION WAS NOT TESTED: the extra `lab` is not installed",
    ),
]


def test_the_proposed_connect_string_works_with_a_domain_and_another_unique_name(tmp_path: Path) -> None:
    with lab_directory(tmp_path / "dir") as directory:
        practice = Practice(
            directory, database=True, db_unique_name="prac_fra", db_domain="practice.example", has_second=True
        )
        cluster = practice.cluster
        configuration = grid(cluster, "rac1", "srvctl", "config", "database", "-d", "prac_fra").stdout
        assert "Database unique name: prac_fra\nDatabase name: prac\n" in configuration
        assert "Domain: practice.example\n" in configuration
        assert "Database instances: prac1,prac2\n" in configuration
        assert grid(cluster, "rac1", "srvctl", "config", "service", "-d", "prac_fra").stdout == ""
        assert f"SCAN name: {SCAN_NAME}, Network: 1\n" in grid(cluster, "rac1", "srvctl", "config", "scan").stdout
        assert cluster.database is not None
        assert cluster.database.connect == f"{SCAN_NAME}:1521/prac_fra.practice.example"

        without = tmp_path / "without.toml"
        settings = cluster.settings_file.read_text(encoding="ascii")
        without.write_text(settings.partition("[database]")[0], encoding="ascii")
        report = practice.check("--settings", str(without), "gc-blocks-lost")
        (skipped,) = report.findings
        assert skipped.status is Status.SKIPPED
        assert skipped.title == (
            "No database connection is set; crm and prac1 run here. crm has one instance and uses no interconnect. The "
            "listener also serves pracpdb1.practice.example for prac1."
        )
        (proposed,) = (c for c in skipped.next[0].commands if "--connect" in c)
        assert proposed == f"racwire check --connect {SCAN_NAME}:1521/prac_fra.practice.example --user RACWIRE"
        assert {entry.topic for entry in report.journal} >= {
            *("srvctl config database", "srvctl config database prac_fra", "srvctl config scan"),
            *("srvctl config scan_listener", "lsnrctl status LISTENER", "lsnrctl status LISTENER_SCAN1"),
        }

        words = proposed.split()[2:]
        found = practice.check(
            "--settings", str(_with_password(without, cluster)), *words, "--interval", "1", "gc-blocks-lost"
        )
        assert {f.check for f in found.findings} == {"gc-blocks-lost"}
        assert Status.UNKNOWN not in {f.status for f in found.findings}
        wrong = practice.check(
            "--settings", str(_with_password(without, cluster)),
            *("--connect", f"{SCAN_NAME}:1521/prac", "--user", "RACWIRE", "gc-blocks-lost"),
        )  # fmt: skip
        said = wrong.findings[0].title + " ".join(wrong.findings[0].seen)
        assert re.search(r"ORA-12514.*DB_DOMAIN", said)
        served = "crm.practice.example, prac_fra.practice.example and pracpdb1.practice.example"
        assert f"On this node LISTENER and LISTENER_SCAN1 serve {served}." in said

        of_one = practice.check(
            "--settings", str(_with_password(without, cluster)),
            *("--connect", f"{SCAN_NAME}:1521/crm.practice.example", "--user", "RACWIRE", "gc-blocks-lost"),
        )  # fmt: skip
        assert of_one.findings[0].title.startswith("crm is not a RAC database (cluster_database is FALSE)")

        practice.lab("break", "instance-down", "--node", "rac1")
        reached = (*("--connect", "rac2:1521/prac_fra.practice.example", "--user", "RACWIRE", "--interval", "1"),)
        half = practice.inside(
            "check", "--settings", str(_with_password(without, cluster)), *reached, "--full", "interconnect-in-use"
        ).out  # fmt: skip
        assert "1 instance, none on rac1" in " ".join(half.split())
        assert "prac2 uses 192.168.10.0/24 and 192.168.11.0/24, through HAIP." in " ".join(half.split())
        no_instance = practice.check("--settings", str(without), "gc-blocks-lost").findings[0]
        assert no_instance.title == (
            "No database connection is set; crm runs here. crm has one instance and uses no interconnect. Clusterware "
            "manages prac_fra."
        )
        assert proposed in no_instance.next[0].commands
        at_node = practice.check(
            "--settings", str(_with_password(without, cluster)),
            *("--connect", "rac1:1521/prac_fra.practice.example", "--user", "RACWIRE", "gc-blocks-lost"),
        )  # fmt: skip
        assert "/prac_fra.practice.example (LISTENER_SCAN1)." in " ".join(at_node.findings[0].seen)
        practice.lab("mend")
        practice.leave()


def _with_password(settings: Path, cluster: racwire_lab.Lab) -> Path:
    assert cluster.database is not None
    file = settings.with_name("password.toml")
    file.write_text(
        f'{settings.read_text(encoding="ascii")}\n[database]\npassword_file = "{cluster.database.password_file}"\n',
        encoding="ascii",
    )
    return file


@pytest.mark.parametrize(
    ("kind", "sid", "reason", "checked"),
    [
        ("policy", "prac_1", "The listener also serves pracpdb1 for prac_1.", "prac_1 and prac_2 received "),
        ("one-node", "prac_1", "The listener also serves pracpdb1 for prac_1.", "prac_1 received 0 blocks"),
        ("single", "prac", "prac has one instance and uses no interconnect.", "prac is not a RAC database"),
        (
            "standby",
            "prac1",
            "srvctl lists the database of prac1 as PHYSICAL_STANDBY",
            "(ORA-01033): a mounted standby",
        ),
        ("read-only-standby", "prac1", "srvctl lists the database of prac1 as PHYSICAL_STANDBY", "prac1 and prac2 rec"),
    ],
)
def test_each_kind_of_database_is_proposed_and_checked(
    kind: str, sid: str, reason: str, checked: str, tmp_path: Path
) -> None:
    with lab_directory(tmp_path / "dir") as directory:
        practice = Practice(directory, database=True, db_kind=kind)
        without = tmp_path / "without.toml"
        settings = practice.cluster.settings_file.read_text(encoding="ascii")
        without.write_text(settings.partition("[database]")[0], encoding="ascii")
        (skipped,) = practice.check("--settings", str(without), "gc-blocks-lost").findings
        assert skipped.title.startswith(f"No database connection is set; {sid} runs here.")
        assert reason in skipped.title
        proposed = [c for c in skipped.next[0].commands if "--connect" in c]
        if kind == "single":
            assert proposed == ["racwire check --connect SCAN:1521/SERVICE --user RACWIRE"]
        else:
            assert proposed == [f"racwire check --connect {SCAN_NAME}:1521/prac --user RACWIRE"]
        report = practice.check("--interval", "1", "gc-blocks-lost")
        assert checked in report.findings[0].title
        if kind == "standby":
            as_sysdba = practice.check("--user", "SYS", "--sysdba", "--interval", "1", "gc-blocks-lost", "device-mtu")
            titles = {finding.check: finding.title for finding in as_sysdba.findings}
            assert titles["gc-blocks-lost"].startswith("prac1 and prac2 received ")
            assert "its snapshots are from its primary" in titles["device-mtu"]
        practice.leave()


def test_an_instance_without_parallel_query_processes_is_unknown_and_never_passed(tmp_path: Path) -> None:
    with lab_directory(tmp_path / "dir") as directory:
        practice = Practice(directory, database=True)
        practice.lab("break", "no-parallel-servers", "--node", "rac2")
        seen = {}
        for node in ("rac1", "rac2"):
            connect = ("--connect", f"{node}:1521/prac", "--user", "RACWIRE", "--interval", "1")
            for finding in practice.check(*connect, "gc-blocks-lost", "interconnect-in-use").findings:
                seen[node, finding.check, finding.status] = " ".join((finding.title, *finding.seen))
        for check in ("gc-blocks-lost", "interconnect-in-use"):
            assert "had no free parallel query process" in seen["rac1", check, Status.UNKNOWN]
            assert "prac2" in seen["rac1", check, Status.UNKNOWN]
            assert (
                "GV$ views show only prac2, since its parallel_max_servers is 0" in seen["rac2", check, Status.UNKNOWN]
            )
            assert "prac1" in seen["rac2", check, Status.UNKNOWN]
        assert "prac2" not in seen["rac1", "interconnect-in-use", Status.PASS]
        assert "prac1" not in seen["rac2", "interconnect-in-use", Status.PASS]
        practice.leave()
