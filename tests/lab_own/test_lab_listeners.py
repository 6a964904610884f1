"""The listeners of practice nodes, and what lsnrctl and srvctl print of them and of each kind of database."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from racwire_lab import KINDS, Lab, LabUsageError, up
from tests.lab.lab_support import grid, lab_directory, needs_namespaces, until

pytestmark = [
    needs_namespaces,
    pytest.mark.beyond_sample,
    pytest.mark.skipif(
        any(find_spec(name) is None for name in ("duckdb", "sqlglot", "cryptography")),
        reason="THE LISTENERS WERE NOT TESTED: the extra `lab` is not installed",
    ),
]


def services(cluster: Lab, node: str, listener: str = "LISTENER") -> dict[str, list[str]]:
    """The instances of each service, as `lsnrctl status` prints them; all are READY."""
    found: dict[str, list[str]] = {}
    for line in grid(cluster, node, "lsnrctl", "status", listener).stdout.splitlines():
        words = line.split('"')
        if line.startswith("Service "):
            found[words[1]] = []
        elif line.startswith("  Instance "):
            assert ", status READY, has 1 handler(s) for this service..." in line
            list(found.values())[-1].append(words[1])
    return found


def test_a_listener_serves_what_runs_at_that_moment(tmp_path: Path) -> None:
    with lab_directory(tmp_path / "dir"):
        cluster = up(db_domain="example.com", has_second=True)
        own = {
            "+ASM": ["+ASM1"], "+ASM_DATA": ["+ASM1"], "+ASM_OCR": ["+ASM1"],
            "prac.example.com": ["prac1"], "pracXDB.example.com": ["prac1"], "prac_CFG.example.com": ["prac1"],
            "pracpdb1.example.com": ["prac1"], "86b637b62fdf7a65e053f706e80a27ca.example.com": ["prac1"],
            "crm.example.com": ["crm"], "crmXDB.example.com": ["crm"], "crm_CFG.example.com": ["crm"],
        }  # fmt: skip
        assert services(cluster, "rac1") == own
        assert "prac.example.com" in services(cluster, "rac2")
        assert services(cluster, "rac1", "LISTENER_SCAN1")["prac.example.com"] == ["prac1", "prac2"]
        assert "HOST=10.20.0.100)(PORT=1521)" in grid(cluster, "rac1", "lsnrctl", "status", "LISTENER_SCAN1").stdout
        refused = grid(cluster, "rac2", "lsnrctl", "status", "LISTENER_SCAN1")
        assert (refused.returncode, "TNS-12541: TNS:no listener" in refused.stdout) == (1, True)
        unknown = grid(cluster, "rac1", "lsnrctl", "status", "OTHER")
        assert "TNS-01101: Could not find service name OTHER" in unknown.stdout

        cluster = cluster.break_("instance-down", node="rac1")
        until(lambda: "prac.example.com" not in services(cluster, "rac1"))
        assert services(cluster, "rac1")["crm.example.com"] == ["crm"]
        until(lambda: services(cluster, "rac1", "LISTENER_SCAN1")["prac.example.com"] == ["prac2"])
        status = grid(cluster, "rac1", "srvctl", "status", "database", "-d", "prac").stdout
        assert status == "Instance prac1 is not running on node rac1\nInstance prac2 is running on node rac2\n"
        cluster = cluster.mend().break_("listener-down", node="rac2")
        until(lambda: grid(cluster, "rac2", "lsnrctl", "status").returncode == 1)


@pytest.mark.parametrize(
    ("kind", "instances", "lines"),
    [
        ("policy", {"rac1": "prac_1", "rac2": "prac_2"}, ("Server pools: pracpool", "Database is policy managed")),
        ("one-node", {"rac1": "prac_1"}, ("Type: RACOneNode", "Instance name prefix: prac")),
        ("single", {"rac1": "prac"}, ("Type: SINGLE", "Database instance: prac")),
        ("standby", {"rac1": "prac1", "rac2": "prac2"}, ("Start options: mount", "Database role: PHYSICAL_STANDBY")),
        ("read-only-standby", {"rac1": "prac1", "rac2": "prac2"}, ("Start options: read only",)),
    ],
)
def test_srvctl_and_the_listeners_know_the_kind_of_the_database(
    kind: str, instances: dict[str, str], lines: tuple[str, ...], tmp_path: Path
) -> None:
    with lab_directory(tmp_path / "dir"):
        cluster = up(db_kind=kind)
        configuration = grid(cluster, "rac1", "srvctl", "config", "database", "-d", "prac").stdout.splitlines()
        assert set(lines) <= set(configuration)
        status = grid(cluster, "rac1", "srvctl", "status", "database", "-d", "prac").stdout.splitlines()
        assert [line for line in status if "Online relocation" not in line] == [
            f"Instance {instance} is running on node {node}" for node, instance in instances.items()
        ]
        for node in ("rac1", "rac2"):
            served = services(cluster, node)
            assert served.get("prac") == ([instances[node]] if node in instances else None)
            assert ("pracpdb1" in served) == (node in instances and KINDS[kind].is_open)


def test_there_are_no_other_kinds() -> None:
    with pytest.raises(LabUsageError, match=r"The practice database is rac, policy, .* not exadata"):
        up(db_kind="exadata")
