"""The interpreters that a program sent over ssh finds on a node, and the faults that take them away."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator

import pytest

from racwire_lab import Lab, up
from racwire_lab.cluster.far_end import why_not
from tests.lab.lab_support import grid, lab_directory, needs_namespaces, run, ssh

pytestmark = [
    needs_namespaces,
    pytest.mark.beyond_sample,
    pytest.mark.skipif(shutil.which("perl") is None, reason="PERL ON THE NODES WAS NOT TESTED: there is none here"),
]
PRODUCT = "-e 'print 6 * 7'"
needs_other_python = pytest.mark.skipif(
    bool(why_not("no-far-end")), reason="no-far-end WAS NOT TESTED: racwire itself runs in a Python of the system"
)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with lab_directory(tmp_path_factory.mktemp("lab") / "dir"):
        yield up(database=False)


@pytest.fixture
def cluster(running: Lab) -> Iterator[Lab]:
    before = mounts(running)
    yield running
    running.mend()
    assert mounts(running) == before
    assert (of_grid(running).stdout, of_system(running).stdout) == ("42", "42")


def mounts(cluster: Lab) -> str:
    return run(cluster, "rac2", "cat", "/proc/self/mounts").stdout


def of_grid(cluster: Lab, node: str = "rac2") -> subprocess.CompletedProcess[str]:
    return ssh(cluster, "rac1", node, f"{cluster.environment(node)['GRID_HOME']}/perl/bin/perl {PRODUCT}")


def of_system(cluster: Lab, node: str = "rac2") -> subprocess.CompletedProcess[str]:
    return ssh(cluster, "rac1", node, f"/usr/bin/env perl {PRODUCT}")


def runs(cluster: Lab, name: str) -> bool:
    return ssh(cluster, "rac1", "rac2", f"command -v {name} && {name} --version").returncode == 0


def test_no_perl(cluster: Lab) -> None:
    had_python = runs(cluster, "python3")
    cluster.break_("no-perl")
    assert of_grid(cluster).returncode == 127
    assert of_system(cluster).returncode in (126, 127)
    assert not runs(cluster, "perl")
    assert runs(cluster, "python3") == had_python
    assert (of_grid(cluster, "rac1").stdout, of_system(cluster, "rac1").stdout) == ("42", "42")


def test_perl_banner(cluster: Lab) -> None:
    cluster.break_("perl-banner")
    banner, answer = of_grid(cluster).stdout.split("\n")
    assert banner.startswith("*** Oracle Grid Infrastructure")
    assert answer == of_system(cluster).stdout == of_grid(cluster, "rac1").stdout == "42"


@needs_other_python
def test_no_far_end_also_after_a_reboot(cluster: Lab) -> None:
    def nothing_runs() -> bool:
        names = ("perl", "perl5*", "python", "python2", "python3", "/usr/bin/python3*", "platform-python")
        return not any(runs(cluster, name) for name in names) and of_grid(cluster).returncode == 127

    cluster.break_("no-far-end")
    assert nothing_runs()
    cluster.reboot("rac2")
    assert nothing_runs()
    assert grid(cluster, "rac2", "crsctl", "query", "crs", "softwarepatch").returncode == 0


@needs_other_python
def test_the_faults_combine_and_end_one_by_one(cluster: Lab) -> None:
    for fault in ("no-far-end", "no-perl", "perl-banner"):
        cluster.break_(fault)
    cluster.mend("no-far-end")
    assert of_grid(cluster).returncode == 127
    assert not runs(cluster, "perl")
    cluster.mend("no-perl")
    assert of_grid(cluster).stdout.endswith("\n42")
    assert of_system(cluster).stdout == "42"


def test_a_grid_home_has_its_perl_where_the_system_has_none(tmp_path_factory: pytest.TempPathFactory) -> None:
    with lab_directory(tmp_path_factory.mktemp("lab") / "dir"):
        minimal = up(database=False, like="minimal")
        path = f"{minimal.environment('rac2')['GRID_HOME']}/perl/bin/perl"
        assert run(minimal, "rac2", "sh", "-c", "command -v perl").returncode != 0
        assert run(minimal, "rac2", path, "-e", "print 6 * 7").stdout == "42"
        minimal.break_("no-perl")
        assert run(minimal, "rac2", "test", "-e", path).returncode == 1
        minimal.mend()
        assert run(minimal, "rac2", path, "-e", "print 6 * 7").stdout == "42"
