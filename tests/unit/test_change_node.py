"""A change of one node's MTU: which node, what prevents it, its steps and gates, and its rollback, on facts."""

import re

import msgspec
import pytest

from checks.change.plan.change_plan import Accepted, ChangeKind, PlannedDatabase
from checks.change.plan.obstacles import PlanError
from checks.change.plan.planning import look_of
from checks.change.progress.change_events import ObservedState, Surprised
from checks.change.progress.decisions import abandon, roll_back
from checks.change.progress.state import ChangeError
from checks.model.facts import Leg, Managed, ManagedDatabase, Route, Unknown, UnreadNode, Verdict
from checks.model.finding import FAULTS, Status
from checks.plugins.mtu_consistency import mtu_consistency
from tests.fixtures.change_plans import PROD, apart, node_plan_for, plan_for, stacked, with_setup
from tests.fixtures.clusters import node, path, with_interface, with_paths
from tests.fixtures.reports import report_of
from tests.unit.change_gate_support import found
from tests.unit.change_truth import asked_for, verified_of
from tests.unit.change_world import SHAPES, World, plan_of
from tests.unit.test_change_plan_back import ids, standing_at, way_back
from tests.unit.test_change_walks import concluded

SETS = re.compile(r"\bmtu \d")
SERVICES = (("web", "rac2"), ("crm", "rac1"), ("crm", "rac2"))
SERVED = msgspec.structs.replace(PROD, services=SERVICES)
ODD = with_interface(node(2), "eth2", mtu=1500)
BUILT = apart([node(1), ODD, node(3)], databases=(SERVED,))
PLAN = node_plan_for(BUILT)


def refused(built, name="rac2", accepted=()):
    """Return what prevents the plan: whether each obstacle can be accepted, by its code."""
    with pytest.raises(PlanError) as error:
        node_plan_for(built, name, accepted=tuple(Accepted(code, "", "agreed") for code in accepted))
    return {one.code: one.acceptable for one in error.value.obstacles}


def lines_of(plan, step):
    return [(block.node, line) for block in plan.step(step).commands if not block.optional for line in block.lines]


# --- which node -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("nodes", "name", "mtus"),
    [
        ([node(1), ODD, node(3)], "rac2", {9000}),
        ([node(1), node(2), node(3, 1500)], "rac3", {9000}),
        ([node(1, 1500), with_interface(node(2, 1500), "eth1", mtu=9000), node(3, 1500)], "rac2", {1500}),
        ([node(1), ODD], "rac2", {9000}),
        ([stacked(1, 9000), stacked(2, 1500), stacked(3, 9000)], "rac2", {9000}),
        ([stacked(1, 9000), with_interface(stacked(2, 9000), "p1", mtu=1500), stacked(3, 9000)], "rac2", {9000}),
    ],
    ids=["one network", "both networks", "the larger one", "of two nodes", "bond and VLAN", "a member of its bond"],
)
def test_the_node_that_differs_gets_the_mtu_of_the_others_and_no_other_node_changes(nodes, name, mtus):
    plan = node_plan_for(apart(nodes))
    assert (plan.node, plan.kind, plan.nodes) == (name, ChangeKind.NODE_MTU, tuple(one.name for one in nodes))
    assert {one.mtu_after for one in plan.layers if one.node == name} == mtus
    others = [one for one in plan.layers if one.node != name]
    assert others
    assert all(one.mtu_before == one.mtu_after for one in others)
    changing = {place for step in plan.steps for place, line in lines_of(plan, step.id) if SETS.search(line)}
    assert changing == {name}


def test_layers_are_set_in_the_order_that_the_kernel_takes():
    plan = node_plan_for(apart([stacked(1, 9000), stacked(2, 1500), stacked(3, 9000)]))
    set_ = [line.split()[4] for _, line in lines_of(plan, "set-mtu") if line.startswith("ip link")]
    assert set_.index("bond0") < set_.index("bond0.100")


def test_of_two_nodes_that_differ_the_operator_names_the_wrong_one():
    built = apart([node(1), node(2, 1500)])
    with pytest.raises(ChangeError, match="--node rac1 gives it MTU 1500 or --node rac2 gives it MTU 9000"):
        node_plan_for(built)
    assert node_plan_for(built, "RAC2").mtu_after == 9000
    (fault, _) = [one for one in mtu_consistency.run(built) if one.status is Status.FAIL]
    commands = [command for step in fault.next if step.is_change for command in step.commands]
    assert commands == [f"racwire change new node-mtu --node rac{n}" for n in (1, 2)]


def test_a_node_that_is_not_there_and_a_cluster_without_a_difference_are_refused():
    with pytest.raises(ChangeError, match="its nodes are rac1, rac2 and rac3"):
        node_plan_for(BUILT, "rac9")
    with pytest.raises(ChangeError, match="none differs while all others have one MTU"):
        node_plan_for(apart([node(1), node(2), node(3)]))
    assert refused(apart([node(1), node(2), node(3)])) == {"CH-START-014": False}


# --- what prevents it -------------------------------------------------------------------------------------------------


def hole(built, number, *pairs):
    """Return the cluster with a black hole between these nodes on one of the networks."""
    network = built.networks[number]
    return with_paths(built, *(path(network, a, b, Verdict.BLACK_HOLE, Leg.REQUEST) for a, b in pairs))


@pytest.mark.parametrize(
    ("built", "code"),
    [
        (hole(BUILT, 1, ("rac1", "rac3"), ("rac3", "rac1")), "IC-PATH-003"),
        (hole(BUILT, 0, ("rac1", "rac3")), "IC-PATH-003"),
        (hole(BUILT, 0, ("rac1", "rac2"), ("rac3", "rac2")), "IC-PATH-003"),
        (apart([node(1), ODD, node(3, 1500)]), "CH-START-031"),
        (apart([node(1), ODD, with_interface(node(3), "eth1", mtu=1500)]), "CH-START-031"),
        (
            apart(
                [node(1), msgspec.structs.replace(ODD, routes=(Route("192.168.10.0/24", "eth1", mtu=1400),)), node(3)]
            ),
            "IC-MTU-005",
        ),
        (with_paths(BUILT, path(BUILT.networks[0], "rac1", "rac3", Verdict.UNKNOWN, series=())), "IC-PATH-008"),
        (msgspec.structs.replace(BUILT, nodes=(*BUILT.nodes[:2], UnreadNode("rac3", "ssh failed"))), "CH-START-001"),
        (msgspec.structs.replace(BUILT, local_node="rac2"), "CH-START-032"),
    ],
    ids=[
        *("among the others", "one way on the other network", "to the node on a network where it is equal"),
        *("two nodes", "the others differ", "a route of the node", "a path not tested", "not read", "here"),
    ],
)
def test_what_the_mtu_of_the_node_does_not_explain_refuses_and_cannot_be_accepted(built, code):
    assert refused(built, accepted=(code,))[code] is False


def test_a_database_that_runs_only_there_needs_an_acceptance():
    only = ManagedDatabase("hr", (("hr1", "rac2"),))
    built = apart([node(1), ODD, node(3)], databases=(SERVED, only))
    assert refused(built) == {"CH-START-033": True}
    plan = node_plan_for(built, accepted=(Accepted("CH-START-033", "", "the owners of hr agreed"),))
    assert "hr is down meanwhile" in plan.step("agree").what


# --- steps and gates --------------------------------------------------------------------------------------------------


def test_only_the_node_is_stopped_and_its_service_is_moved_before():
    assert ids(PLAN)[4:11] == [
        *("services-elsewhere", "stack-down", "set-mtu", "survives-boot", "prove-paths", "node-up", "instances"),
    ]
    ((place, line),) = lines_of(PLAN, "services-elsewhere")
    assert place == "rac1"
    assert "srvctl relocate service -d prod -s web -oldinst prod2 -newinst prod1" in line
    stopped = lines_of(PLAN, "stack-down")
    assert {node for node, _ in stopped} == {"rac2"}
    disable, instance, crs = (line for _, line in stopped)
    assert "crsctl disable crs" in disable
    assert "srvctl stop instance -d prod -i prod2 -o immediate -f" in instance
    assert "crsctl stop crs" in crs
    assert not [line for step in PLAN.steps for _, line in lines_of(PLAN, step.id) if "srvctl stop database" in line]


def test_until_the_node_is_up_it_stays_down_and_the_others_stay_up():
    gates = {(gate.check, gate.nodes, gate.until) for gate in PLAN.step("stack-down").gates}
    assert gates >= {
        ("stack-down", ("rac2",), "node-up"),
        ("autostart-off", ("rac2",), "node-up"),
        ("stack-up", ("rac1", "rac3"), "node-up"),
    }
    proofs = [gate.check for gate in PLAN.step("prove-paths").gates]
    assert proofs[:2] == ["df-ping", "one-byte-more"]
    assert PLAN.position("prove-paths") < PLAN.position("node-up")


def test_the_paths_between_the_node_and_every_other_are_also_pinged_by_hand_both_ways():
    pings = {
        (line.split()[-2], line.split()[-1]) for block in PLAN.step("prove-paths").commands for line in block.lines
    }
    ends = [("192.168.1{}.2", f"192.168.1{{}}.{other}") for other in (1, 3)]
    assert pings == {
        (a.format(net), b.format(net)) for one, two in ends for a, b in ((one, two), (two, one)) for net in (0, 1)
    }


def services(*running, instances=PROD.instances):
    managed = Managed((ManagedDatabase("prod", instances, services=running),), None)
    now = msgspec.structs.replace(BUILT, managed=managed)
    return [
        (one.status, one.subject) for one in found("services-elsewhere", now, standing_at("services-elsewhere", PLAN))
    ]


@pytest.mark.parametrize(
    ("seen", "status"),
    [
        (services(("web", "rac1"), ("crm", "rac1")), Status.PASS),
        (services(("web", "rac2"), ("crm", "rac1")), Status.FAIL),
        (services(("web", "rac1")), Status.FAIL),
        (services(("web", "rac1"), ("crm", "rac1"), instances=(("prod2", "rac2"),)), Status.FAIL),
        (services(("web", "rac1"), instances=Unknown("PRCD-1229")), Status.UNKNOWN),
    ],
    ids=["elsewhere", "only there", "one nowhere else", "no other instance", "not known"],
)
def test_services_must_be_offered_elsewhere(seen, status):
    assert [one for one, _ in seen] == [status]


def test_services_that_the_plan_does_not_hold_are_not_known():
    plan = msgspec.structs.replace(
        PLAN, databases=(PlannedDatabase(name="prod", instances={"rac2": "p2", "rac1": "p1"}),)
    )
    now = msgspec.structs.replace(BUILT, managed=Managed((SERVED,), None))
    (one,) = found("services-elsewhere", now, standing_at("services-elsewhere", plan))
    assert one.status is Status.UNKNOWN


# --- the way back -----------------------------------------------------------------------------------------------------

DOWN = ObservedState(running={"rac1": True, "rac2": False, "rac3": True})
UP = ObservedState(running={"rac1": True, "rac2": True, "rac3": True})


@pytest.mark.parametrize(
    ("step", "look", "back"),
    [
        ("agree", UP, ["untouched", "sign-off"]),
        ("console-access", UP, ["untouched", "sign-off"]),
        ("services-elsewhere", UP, ["untouched", "instances", "sign-off"]),
        ("services-elsewhere", DOWN, ["untouched", "node-up", "instances", "sign-off"]),
        ("stack-down", UP, ["untouched", "node-up", "instances", "sign-off"]),
        ("stack-down", DOWN, ["untouched", "node-up", "instances", "sign-off"]),
        ("set-mtu", DOWN, ["stack-down", "set-mtu", "node-up", "instances", "sign-off"]),
        ("prove-paths", DOWN, ["stack-down", "set-mtu", "node-up", "instances", "sign-off"]),
        ("node-up", DOWN, ["stack-down", "set-mtu", "node-up", "instances", "sign-off"]),
    ],
)
def test_a_rollback_sets_the_old_mtu_while_the_node_is_down(step, look, back):
    plan = way_back(standing_at(step, PLAN, look))
    assert ids(plan) == back
    assert plan.node == "rac2"
    if "set-mtu" in back:
        set_ = lines_of(plan, "set-mtu")
        assert ("rac2", "ip link set dev eth2 mtu 1500") in set_
        assert {node for node, _ in set_} == {"rac2"}
        assert "df-ping" not in [gate.check for step in plan.steps for gate in step.gates]


@pytest.mark.parametrize("step", ["node-up", "instances", "compare", "sign-off"])
def test_once_the_node_runs_again_there_is_no_rollback(step):
    of = standing_at(step, PLAN, UP)
    with pytest.raises(ChangeError, match="There is no rollback: Clusterware runs on rac2 again"):
        way_back(of)
    with pytest.raises(ChangeError, match="There is no rollback"):
        roll_back(of, of.plan, "Ann Lee", "the window is over")


def test_after_services_were_moved_the_change_cannot_be_abandoned():
    with pytest.raises(ChangeError, match="Roll back"):
        abandon(standing_at("stack-down", PLAN, UP), "Ann Lee", "the window is over")


def test_a_plan_of_all_nodes_names_no_node():
    assert plan_for(apart([node(1, 1500), node(2, 1500)])).node == ""


def test_a_node_that_is_down_since_it_could_not_join_can_be_accepted():
    down = with_setup(BUILT, "rac2", daemons=(), instances=())
    codes = refused(down)
    assert codes.pop("CH-START-004") is True
    assert codes == {}


# --- what happens meanwhile -------------------------------------------------------------------------------------------


def meanwhile(step, happens):
    """Return the DANGERs of a verification of a step on a model of the nodes, and what they ask for, by node."""
    plan = plan_of("one apart")
    world = World(SHAPES["one apart"])
    for done in plan.steps[: plan.position(step)]:
        world.follow(plan, done.id, "rac2")
    of = standing_at(step, plan, look_of(world.facts(), plan))
    happens(world)
    events = concluded(of, world)
    told = {event.node for event in events if isinstance(event, Surprised) and event.dangerous}
    told |= {result.node for result in verified_of(events).results if result.is_danger}
    return {node: asked_for(events, node) for node in told}


def starts(world):
    world.runs["rac2"] = True


def boots_with_its_autostart(world):
    world.starts["rac2"] = True
    world.boot("rac2")


@pytest.mark.parametrize(
    ("step", "happens", "dangers"),
    [
        ("services-elsewhere", lambda world: world.set("rac1", "eth1", 1500), {"rac1": {"set"}}),
        ("prove-paths", lambda world: world.set("rac1", "eth1", 1500), {"rac1": {"set"}}),
        ("services-elsewhere", lambda world: world.set("rac2", "eth1", 9000), {"rac2": {"set"}}),
        ("services-elsewhere", lambda world: [world.set("rac2", nic, 9000) for nic in ("eth1", "eth2")], {}),
        ("set-mtu", starts, {"rac2": {"stop"}}),
        ("set-mtu", boots_with_its_autostart, {"rac2": {"stop"}}),
        ("set-mtu", lambda world: world.set("rac2", "eth1", 9000), {}),
        ("node-up", lambda world: [starts(world), world.set("rac2", "eth1", 1500)], {"rac2": {"stop"}}),
    ],
    ids=[
        *("another node before the stop", "another node after it", "half of the node live", "the node live"),
        *("the node starts", "the node boots", "the node while it is down", "the node loses its MTU and starts"),
    ],
)
def test_a_danger_names_the_node_that_differs_while_it_runs_and_what_ends_it(step, happens, dangers):
    assert meanwhile(step, happens) == dangers


# --- the remedy of the checks -----------------------------------------------------------------------------------------


def proposed(built):
    """Return the commands of the changes that the problems of a cluster propose, by code."""
    return {
        finding.code: [command for step in finding.next if step.is_change for command in step.commands]
        for finding in report_of(built).findings
        if finding.status in FAULTS
    }


def test_each_finding_of_the_one_node_proposes_to_change_it_alone():
    alone = ["racwire change new node-mtu --node rac2"]
    kept = with_setup(
        BUILT, "rac2", kept=tuple(msgspec.structs.replace(one, mtu=9000) for one in kept_of(BUILT, "rac2"))
    )
    found_ = proposed(kept)
    assert {
        code: found_[code] for code in ("IC-MTU-002", "IC-PATH-002", "IC-PATH-010", "IC-BOOT-002")
    } == dict.fromkeys(("IC-MTU-002", "IC-PATH-002", "IC-PATH-010", "IC-BOOT-002"), alone)


@pytest.mark.parametrize(
    "built",
    [
        apart([node(1), ODD, with_interface(node(3), "eth2", mtu=1500), node(4), node(5)]),
        msgspec.structs.replace(BUILT, nodes=(*BUILT.nodes, UnreadNode("rac4", "ssh failed"))),
    ],
    ids=["two nodes", "a node that was not read"],
)
def test_where_not_one_node_alone_differs_the_change_of_all_nodes_is_proposed(built):
    assert proposed(built)["IC-MTU-002"] == ["racwire change new --to 9000"]


def kept_of(built, name):
    setup = built.setup(name)
    assert setup is not None
    return setup.kept
