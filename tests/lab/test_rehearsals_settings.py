"""Changes of kernel settings, rehearsed there and back: what goes wrong in the middle, and the gate that finds it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab.lab_support import needs_namespaces, run, until
from tests.lab.rehearsal import Rehearsal

pytestmark = [pytest.mark.lab, needs_namespaces, pytest.mark.beyond_sample]

LATER_FILE = "/etc/sysctl.d/zzz-security.conf"


@pytest.fixture
def rehearsal(tmp_path: Path) -> Iterator[Rehearsal]:
    made = Rehearsal(tmp_path, database=True, switch_mtu=9216, mtu=9000)
    yield made
    made.end()


def opened(rehearsal: Rehearsal, *words: str) -> None:
    """Open the change; a busy machine of the test is no reason against it."""
    despite = ("--despite", "IC-CPU-002", "--despite", "IC-CPU-003", "--despite", "IC-CPU-004")
    result = rehearsal.change("new", *words, *despite, "--reason", "CHG42")
    assert result.code == 0, result.out + result.err


def setting(rehearsal: Rehearsal, node: str, key: str) -> str:
    return run(rehearsal.lab, node, "sysctl", "-n", key).stdout.strip()


def failing(rehearsal: Rehearsal) -> dict[tuple[str, str], str]:
    """Verify the gate, which must not pass. Return the sentences by check and node."""
    verified = rehearsal.verify()
    assert verified["code"] == 2, verified
    return {(r["check"], r.get("node", "")): r["sentence"] for r in verified["results"] if r["status"] == "FAIL"}


def test_rp_filter_there_and_back_with_faults_in_the_middle(rehearsal):
    rehearsal.outside(["racwire lab break strict-rp-filter --node rac1", "racwire lab break strict-rp-filter"])
    opened(rehearsal, "rp-filter")
    rehearsal.walk("set-first")

    rehearsal.operate(rehearsal.step(), but="printf")  # at run time only
    assert set(failing(rehearsal)) == {("kept-settings", "rac1")}
    rehearsal.inside("rac1", [f"echo net.ipv4.conf.eth2.rp_filter = 1 > {LATER_FILE}"])
    rehearsal.operate(rehearsal.step())
    sentence = failing(rehearsal)["kept-settings", "rac1"]
    assert f"net.ipv4.conf.eth2.rp_filter is set to 1 by {LATER_FILE}, which sorts after" in sentence
    rehearsal.inside("rac1", [f"rm {LATER_FILE}"])
    rehearsal.prove(rehearsal.step())

    assert rehearsal.current == "set-others"
    rehearsal.operate(rehearsal.step(), but="printf")
    rehearsal.inside("rac2", ["reboot"])  # it loses what is in no file
    until(lambda: rehearsal.verify()["code"] == 2, "rac2 did not come back")
    assert set(failing(rehearsal)) >= {("running-settings", "rac2"), ("kept-settings", "rac2")}
    rehearsal.operate(rehearsal.step())
    until(lambda: rehearsal.verify()["passed"], "Clusterware of rac2 did not come back")
    assert rehearsal.current == "sign-off"
    rehearsal.inside("rac1", ["reboot"])  # it keeps what is in a file
    until(lambda: rehearsal.verify()["passed"], "Clusterware of rac1 did not come back")
    assert [setting(rehearsal, node, "net.ipv4.conf.eth1.rp_filter") for node in rehearsal.nodes] == ["2", "2"]

    result = rehearsal.change("rollback", "--by", "Ann Lee", "--reason", "The old filter is wanted.")
    assert result.code == 0, result.err
    assert {check for check, _ in failing(rehearsal)} == {"running-settings", "kept-settings"}
    rehearsal.walk()
    report = rehearsal.report()
    assert report.outcome == "rolled back"
    assert {(v.node, v.before, v.after) for v in report.values} == {("rac1", "0", "0"), ("rac2", "0", "0")}
    assert run(rehearsal.lab, "rac1", "ls", "/etc/sysctl.d").stdout.split() == ["97-oracle-database-sysctl.conf"]


def test_larger_buffers_reach_an_instance_only_with_its_restart(rehearsal):
    opened(
        rehearsal, "receive-buffers", "--set", "net.core.rmem_max=16777216", "--set", "net.core.rmem_default=4194304"
    )
    rehearsal.walk("restart-rac1")
    assert set(failing(rehearsal)) == {("socket-buffers", "rac1")}  # after the settings alone

    grid = rehearsal.lab.environment("rac1")["GRID_HOME"]
    rehearsal.operate(rehearsal.step())
    rehearsal.prove(rehearsal.step())
    assert rehearsal.current == "restart-rac2"

    # The instance of rac1 is down again while that of rac2 is to be restarted: the gate names it, and the commands
    # refuse.
    rehearsal.inside("rac1", [f"{grid}/bin/srvctl stop instance -d prac -i prac1 -o immediate"])
    with pytest.raises(AssertionError, match="Another instance of prac is down: start it first"):
        rehearsal.operate(rehearsal.step())
    assert set(failing(rehearsal)) >= {("socket-buffers", "rac2"), ("instances-up", "rac1")}
    rehearsal.inside("rac1", [f"{grid}/bin/srvctl start instance -d prac -i prac1"])
    rehearsal.operate(rehearsal.step())
    rehearsal.prove(rehearsal.step())

    rehearsal.inside("rac2", ["printf 'net.core.rmem_max = 4194304\\n' > /etc/sysctl.conf"])
    sentence = failing(rehearsal)["kept-settings", "rac2"]
    assert "/etc/sysctl.conf of rac2 sets net.core.rmem_max to 4194304" in sentence
    assert rehearsal.current == "set-others"
    rehearsal.inside("rac2", ["rm /etc/sysctl.conf"])
    rehearsal.walk()
    report = rehearsal.report()
    assert report.outcome == "signed off"
    assert {(v.key, v.before, v.after) for v in report.values} == {
        ("net.core.rmem_max", "4194304", "16777216"),
        ("net.core.rmem_default", "262144", "4194304"),
    }


def test_buffers_go_back_from_the_middle(rehearsal):
    opened(rehearsal, "receive-buffers", "--set", "net.core.rmem_max=16777216", "--restart", "later")
    rehearsal.walk("set-others")
    result = rehearsal.change("rollback", "--by", "Ann Lee", "--reason", "It is decided otherwise.")
    assert result.code == 0, result.err
    rehearsal.walk(look_first=True)
    assert rehearsal.report().outcome == "rolled back"
    assert [setting(rehearsal, node, "net.core.rmem_max") for node in rehearsal.nodes] == ["4194304", "4194304"]


def test_a_restart_that_is_left_for_later_is_attested(rehearsal):
    opened(rehearsal, "receive-buffers", "--set", "net.core.rmem_max=16777216", "--restart", "later")
    rehearsal.walk()
    (step,) = (step for step in rehearsal.report().steps if step.id == "restart-later")
    assert "only after the restart of prac1 and prac2" in step.attestation
    assert step.attested
