"""The declaration and discovery of checks, including those of other packages."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from checks.model.check import Kind, PluginError, check
from checks.model.facts import Cluster
from checks.model.finding import Status
from checks.run.check_discovery import discover

ROOT = Path(__file__).parents[2]
KIND = Kind("T-KIND-001", "?")


def test_the_built_in_checks_are_found():
    assert {c.id for c in discover()} >= {"clusterware", "df-ping", "gc-blocks-lost", "mtu-consistency", "reassembly"}


def test_codes_are_unique_over_all_checks_and_each_is_documented():
    codes = [kind.code for c in discover() for kind in c.kinds]
    assert len(codes) == len(set(codes))
    assert all(kind.title for c in discover() for kind in c.kinds)


@pytest.mark.parametrize("code", ["", "ic-path-001", "IC-PATH", "IC-PATH-1", "IC PATH-001"])
def test_a_code_with_another_format_is_refused(code):
    with pytest.raises(PluginError):
        Kind(code, "?")


def test_an_invalid_declaration_is_refused():
    for bad in ({"id": "Not_Kebab", "needs": ()}, {"id": "fine", "needs": ("moon",)}):
        with pytest.raises(PluginError):
            check(question="?", kinds=(KIND,), **bad)(lambda c: ())


def test_findings_have_the_id_of_their_check():
    @check("mine", question="?", needs=(), kinds=(KIND,))
    def mine(cluster):
        yield KIND.finding("ok", status=Status.PASS)

    assert mine.run(Cluster(local_node="rac1", taken_at=""))[0].check == "mine"


def test_the_check_of_the_contributing_page_and_its_test_work_as_an_installed_package(tmp_path):
    page = (ROOT / "CONTRIBUTING.md").read_text()
    code, test = re.findall(r"```python\n(.*?)```", page, re.S)[:2]
    project = re.search(r"```toml\n(.*?)```", page, re.S).group(1)
    assert len([line for line in (code + test).splitlines() if line.strip()]) < 30
    (tmp_path / "acme_racwire.py").write_text(code)
    (tmp_path / "test_acme_racwire.py").write_text(test)
    (tmp_path / "pyproject.toml").write_text(project)
    site = tmp_path / "site"
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index",
         "--disable-pip-version-check", "--root-user-action=ignore", "--target", str(site), str(tmp_path)],
        check=True, timeout=120,
    )  # fmt: skip
    program = """
from checks import Unknown
from checks.run.check_discovery import discover
from tests.fixtures.clusters import cluster, node, with_interface
found = discover()
assert not found.broken, found.broken
judge = found.get("acme-link-speed")
silent = with_interface(node(2), "eth1", speed_mbps=Unknown("not read"))
mixed = cluster([with_interface(node(1), "eth2", speed_mbps=25000), with_interface(silent, "eth2", speed_mbps=1000)])
for f in judge.run(mixed): print(f.code, f.status, f.title)
"""
    environment = {"PYTHONPATH": f"{site}:{ROOT}", "PATH": "/usr/bin:/bin"}
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env=environment, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert ran.stderr == ""
    assert ran.stdout.splitlines() == [
        "ACME-LINK-002 PASS eth1 of rac1 runs at 10000 Mbit/s.",
        "ACME-LINK-003 UNKNOWN The speed of eth1 of rac2 is not known: not read",
        "ACME-LINK-002 PASS eth2 of rac1 runs at 25000 Mbit/s.",
        "ACME-LINK-001 WARN eth2 of rac2 runs at 1000 Mbit/s.",
    ]
    tested = subprocess.run(
        [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--noconftest", "test_acme_racwire.py"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert tested.returncode == 0, tested.stdout + tested.stderr
    assert "1 passed" in tested.stdout


def test_a_package_that_cannot_be_imported_or_reuses_an_id_is_reported(tmp_path):
    (tmp_path / "leaves.py").write_text("raise SystemExit('no licence')\n")
    (tmp_path / "stops.py").write_text("raise KeyboardInterrupt\n")
    (tmp_path / "kinds.py").write_text(
        "from checks import check\nodd = check('odd', question='?', needs=(), kinds=('ACME-X-002',))(lambda c: ())\n"
    )
    (tmp_path / "acme.py").write_text(
        "from checks import Kind, check\nK = Kind('ACME-X-001', '?')\n"
        "thief = check('df-ping', question='?', needs=(), kinds=(K,))(lambda c: ())\nnothing = 3\n"
    )
    info = tmp_path / "acme-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[racwire.checks]\nabsent = nowhere:x\nthief = acme:thief\nnothing = acme:nothing\n"
        "leaves = leaves:x\nstops = stops:x\nodd = kinds:odd\n"
    )
    program = "from checks.run.check_discovery import discover\nfor b in discover().broken: print(b.name, b.reason)"
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": f"{tmp_path}:{ROOT}"}, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert ran.stderr == ""
    absent, leaves, nothing, odd, stops, thief = ran.stdout.splitlines()
    assert leaves == "leaves leaves:x could not be imported: SystemExit: no licence"
    assert odd.endswith("The check odd declares 'ACME-X-002', which is not a kind of finding.")
    assert stops == "stops stops:x could not be imported: KeyboardInterrupt"
    assert "could not be imported" in absent
    assert "not a check" in nothing
    assert "has the id df-ping" in thief
