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
        practice = Practice(directory, database=True, db_unique_name="prac_fra", db_domain="practice.example")
        cluster = practice.cluster
        configuration = grid(cluster, "rac1", "srvctl", "config", "database", "-d", "prac_fra").stdout
        assert "Database unique name: prac_fra\nDatabase name: prac\n" in configuration
        assert "Domain: practice.example\n" in configuration
        assert "Database instances: prac1,prac2\n" in configuration
        assert grid(cluster, "rac1", "srvctl", "config", "service", "-d", "prac_fra").stdout == ""
        assert cluster.database is not None
        assert cluster.database.connect == f"{SCAN_NAME}:1521/prac_fra.practice.example"

        without = tmp_path / "without.toml"
        settings = cluster.settings_file.read_text(encoding="ascii")
        without.write_text(settings.partition("[database]")[0], encoding="ascii")
        report = practice.check("--settings", str(without), "gc-blocks-lost")
        (skipped,) = report.findings
        assert skipped.status is Status.SKIPPED
        assert skipped.title == "No database connection is set; prac1 runs here."
        (proposed,) = (c for c in skipped.next[0].commands if "--connect" in c)
        assert proposed == "racwire check --connect SCAN:1521/prac_fra.practice.example --user RACWIRE"
        topics = {entry.topic for entry in report.journal}
        assert {"srvctl config database", "srvctl config database prac_fra"} <= topics

        words = proposed.replace("SCAN", SCAN_NAME).split()[2:]
        found = practice.check(
            "--settings", str(_with_password(without, cluster)), *words, "--interval", "1", "gc-blocks-lost"
        )
        assert {f.check for f in found.findings} == {"gc-blocks-lost"}
        assert Status.UNKNOWN not in {f.status for f in found.findings}
        wrong = practice.check(
            "--settings", str(_with_password(without, cluster)),
            *("--connect", f"{SCAN_NAME}:1521/prac", "--user", "RACWIRE", "gc-blocks-lost"),
        )  # fmt: skip
        assert re.search(r"ORA-12514.*DB_DOMAIN", wrong.findings[0].title + " ".join(wrong.findings[0].seen))
        practice.leave()


def _with_password(settings: Path, cluster: racwire_lab.Lab) -> Path:
    assert cluster.database is not None
    file = settings.with_name("password.toml")
    file.write_text(
        f'{settings.read_text(encoding="ascii")}\n[database]\npassword_file = "{cluster.database.password_file}"\n',
        encoding="ascii",
    )
    return file
