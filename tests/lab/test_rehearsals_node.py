"""One node gets the MTU of the others, which keep running: rehearsed to its end, attacked on the way, rolled back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.lab.lab_support import grid, needs_namespaces, until
from tests.lab.rehearsal import Rehearsal, waiting
from tests.lab.test_attacks_outage import crsctl, dangers, failed
from tests.lab.test_rehearsals import verify_killed_twice
from tests.lab.test_rollbacks import state_of

pytestmark = [pytest.mark.lab, needs_namespaces, pytest.mark.beyond_sample]

NEW = ("new", "node-mtu", "--reason", "rac2 was evicted by the attacks before", "--despite", "IC-LOG-004")
BACK = ("rollback", "--by", "Ann Lee", "--reason", "The window is nearly over.")
BEFORE_NODE_UP = (
    *("agree", "backups", "console-access", "services-elsewhere", "stack-down", "set-mtu", "survives-boot"),
    *("prove-paths", "node-up"),
)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rehearsal]:
    made = Rehearsal(
        tmp_path_factory.mktemp("rehearsal"),
        nodes=3,
        mtu=9000,
        switch_mtu=9216,
        keeper="ifcfg",
        database=True,
        record_s=5,
    )
    try:
        for words in ("-s crm -preferred prac1,prac2,prac3", "-s web -preferred prac2 -available prac1"):
            grid(made.lab, "rac1", "srvctl", "add", "service", "-d", "prac", *words.split())
            grid(made.lab, "rac1", "srvctl", "start", "service", "-d", "prac", *words.split()[:2])
        yield made
    finally:
        made.end()


@pytest.fixture
def rehearsal(cluster: Rehearsal) -> Iterator[Rehearsal]:
    """A cluster at 9000 whose rac2 has 1500 on eth2, now and in its file."""
    set_eth2(cluster, "rac2", 1500)
    yield cluster
    cluster.forget_change()


def set_eth2(rehearsal: Rehearsal, node: str, mtu: int) -> None:
    file = "/etc/sysconfig/network-scripts/ifcfg-eth2"
    rehearsal.inside(node, [f"ip link set dev eth2 mtu {mtu}", f"sed -i 's/^MTU=.*/MTU={mtu}/' {file}"])


def refused(rehearsal: Rehearsal) -> str:
    result = rehearsal.change(*NEW)
    assert result.code == 2, result.out + result.err
    assert not list(rehearsal.changes.glob("*.change"))
    return result.out


def walk(rehearsal: Rehearsal, until: str) -> None:
    """Follow the change up to a step, without recordings."""
    while (current := rehearsal.current) and current != until:
        step = rehearsal.step()
        if current in ("baseline", "compare"):
            rehearsal.verify()
            rehearsal.change("override", "--by", "Ann Lee", "--reason", "A rehearsal without load.")
            continue
        rehearsal.operate(step)
        rehearsal.prove(step)


def opened(rehearsal: Rehearsal, until: str) -> None:
    assert rehearsal.change(*NEW).code == 0
    walk(rehearsal, until)


# --- it is begun only on this -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("switch-mtu --node rac3 --network 1", "IC-PATH-003"),
        ("switch-mtu-one-way --node rac1 --network 2", "IC-PATH-003"),
        ("switch-mtu --node rac2 --network 1", "IC-PATH-003"),
        ("no-ssh --node rac3", "CH-START-001"),
        ("udp-filtered --network 1", "IC-FILTER-002"),
    ],
)
def test_a_fault_that_the_mtu_of_the_node_does_not_explain_refuses(rehearsal, fault, code):
    rehearsal.outside([f"racwire lab break {fault}"])
    try:
        said = refused(rehearsal)
    finally:
        rehearsal.outside([f"racwire lab mend {fault.split()[0]}"])
    assert code in said


# --- attacks on the way -----------------------------------------------------------------------------------------------


def test_killed_at_every_step_and_attacked_it_is_signed_off_and_the_others_never_stopped(rehearsal):
    before = state_of(rehearsal)
    opened(rehearsal, "baseline")
    walk(rehearsal, "stack-down")
    assert "web" in grid(rehearsal.lab, "rac1", "srvctl", "status", "service", "-d", "prac").stdout

    # Another node's MTU is changed meanwhile.
    rehearsal.inside("rac1", ["ip link set dev eth1 mtu 1500"])
    said = dangers(rehearsal.verify())
    assert any("eth1 of rac1" in one for one in said), said
    assert not any("crsctl stop" in one for one in said)
    rehearsal.inside("rac1", ["ip link set dev eth1 mtu 9000"])

    # The node is stopped, but its autostart is not disabled.
    rehearsal.operate(rehearsal.step(), but="crsctl disable")
    assert failed(rehearsal.verify()) == {("autostart-off", "rac2")}
    crsctl(rehearsal, "rac2", "disable")
    assert rehearsal.verify()["passed"]

    # The stack is started by hand while the MTUs differ.
    crsctl(rehearsal, "rac2", "start")
    verified = rehearsal.verify()
    said = dangers(verified)
    assert any("Clusterware was started on rac2" in one and "Stop Clusterware at once" in one for one in said), said
    assert ("stack-down", "rac2") in failed(verified)
    crsctl(rehearsal, "rac2", "stop")
    assert dangers(rehearsal.verify()) == []

    # Another node leaves.
    crsctl(rehearsal, "rac3", "stop")
    assert ("stack-up", "rac3") in failed(rehearsal.verify())
    crsctl(rehearsal, "rac3", "start")
    until(lambda: rehearsal.verify()["passed"], "rac3 did not come up again")
    assert rehearsal.current == "set-mtu"

    # The node returns by itself: a boot, with its autostart on and its file at the old MTU.
    crsctl(rehearsal, "rac2", "enable")
    rehearsal.inside("rac2", ["reboot"])
    until(lambda: is_up(rehearsal, "rac2"), "Clusterware did not start at the boot of rac2")
    said = dangers(rehearsal.verify())
    assert any("rac2 was booted" in one and "Stop Clusterware on rac2 at once" in one for one in said), said
    crsctl(rehearsal, "rac2", "stop")
    crsctl(rehearsal, "rac2", "disable")
    assert rehearsal.current == "stack-down"
    verified = rehearsal.verify()
    assert verified["passed"], waiting(verified)
    step = rehearsal.step()
    rehearsal.operate(step)
    verify_killed_twice(rehearsal, step, "rac3")
    walk(rehearsal, "prove-paths")

    # A black hole, and a node that is not read: nothing is proved.
    for fault, status in (("switch-mtu --node rac3 --network 1", "FAIL"), ("no-ssh --node rac3", "UNKNOWN")):
        rehearsal.outside([f"racwire lab break {fault}"])
        verified = rehearsal.verify()
        rehearsal.outside([f"racwire lab mend {fault.split()[0]}"])
        assert not verified["passed"]
        assert status in {r["status"] for r in verified["results"] if r["check"] == "df-ping"}, waiting(verified)
        assert rehearsal.current == "prove-paths"
    while current := rehearsal.current:
        if current in ("baseline", "compare"):
            walk(rehearsal, "sign-off")
            continue
        step = rehearsal.step()
        rehearsal.operate(step)
        if "its gate" in step["waits_for"]:
            verify_killed_twice(rehearsal, step, "rac3")
        rehearsal.attest(step)
        if current == "node-up":
            assert "There is no rollback" in rehearsal.change(*BACK).err
    report = rehearsal.report()
    assert report.outcome == "signed off"
    assert report.outages == ()
    assert [rehearsal.mtu(node, "eth2") for node in rehearsal.nodes] == [9000] * 3
    after = state_of(rehearsal)
    assert {node for node in rehearsal.nodes if after[node] != before[node]} == {"rac2"}  # its MTU and its file


def is_up(rehearsal: Rehearsal, node: str) -> bool:
    return grid(rehearsal.lab, node, "crsctl", "check", "crs").stdout.count("is online") == 4


# --- the way back -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", BEFORE_NODE_UP)
def test_after_a_rollback_from_a_step_the_cluster_is_as_before(rehearsal, step):
    """The commands of the step were run, and nobody verified them; those of node-up were not run."""
    before = state_of(rehearsal)
    opened(rehearsal, step)
    if step != "node-up":
        rehearsal.operate(rehearsal.step())
    started = rehearsal.change(*BACK)
    assert started.code == 0, started.err
    rehearsal.walk("instances", look_first=True)
    if rehearsal.current:  # services may also run elsewhere: the gate does not ask for its commands
        services_back = rehearsal.step()
        passed = rehearsal.verify()["passed"]
        rehearsal.operate(services_back, but="srvctl start instance" if passed else "")
        rehearsal.walk(look_first=True)
    assert rehearsal.report().outcome == "rolled back"
    assert state_of(rehearsal) == before
