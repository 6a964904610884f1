"""`racwire doctor`: the page on healthy, hardened and half-dead clusters, and the checks that will be UNKNOWN."""

from __future__ import annotations

import asyncio
import io
import json

import msgspec
import pytest
from msgspec.structs import replace

from checks.model.exit_codes import ExitCode
from checks.model.facts import (
    Cluster,
    CounterChanges,
    MissingRight,
    NodeSetup,
    NotAsked,
    NotGathered,
    ToolMessage,
    UnaskedInstance,
    Unknown,
    UnreadNode,
)
from checks.model.finding import Status
from checks.model.journal import Entry
from checks.model.settings import ClusterSettings, DatabaseSettings, Settings
from checks.readiness import reading
from checks.readiness.readiness_items import Readiness, ReadinessItem, clock_differences, readiness
from checks.readiness.refusals import Topic
from checks.run.check_discovery import discover
from checks.run.replay import ReplayedFacts
from checks.sources.nodes.user_rights import Account, OsdbaGroup
from tests.fixtures.clusters import cluster, node
from tests.fixtures.databases import asked
from tui.cli import doctor_page as page_module
from tui.cli.doctor_page import doctor_page

GRID = Account("grid", False, ("oinstall", "asmadmin", "asmdba", "dba"), (OsdbaGroup("prod1", "dba"),))
START = "2026-11-20T14:02:31.000+01:00"
START_S = 1_795_179_751
NO_EQUIVALENCE = (
    "User equivalence to {0} is missing for user grid: {0} accepts no key of this user. Run racwire as the Grid "
    "owner, or find the cause with `ssh -v {0} date`."
)
NO_LISTENER = "scan:1521/prod did not answer within 10 s (ORA-12170): check host and port."
OF_INSTANCES = ("gc-blocks-lost", "gc-receive-time", "instance-ping", "interconnect-in-use")


def read(nodes: int = 2, ahead_s: float = 0) -> Cluster:
    """A healthy cluster as the doctor reads it: no paths and no history. The clocks of the peers are ahead."""
    facts = asked(nodes)
    setups = tuple(
        replace(s, taken_at_s=float(START_S + (0 if s.name == "rac1" else ahead_s)))
        for s in facts.setups
        if isinstance(s, NodeSetup)
    )
    return replace(facts, setups=setups, paths=(), history=NotGathered())


def without_peer(facts: Cluster, name: str) -> Cluster:
    """The cluster where one peer refuses this user's key."""
    unread = UnreadNode(name, NO_EQUIVALENCE.format(name))
    nodes = tuple(unread if n.name == name else n for n in facts.nodes)
    setups = tuple(unread if s.name == name else s for s in facts.setups)
    networks = tuple(replace(n, ports=tuple(p for p in n.ports if p.node != name)) for n in facts.networks)
    assert isinstance(facts.counters, CounterChanges)
    counters = replace(facts.counters, nodes=tuple(c for c in facts.counters.nodes if c.node != name))
    return replace(facts, nodes=nodes, setups=setups, networks=networks, counters=counters)


PER_NODE = tuple(
    check.id
    for check in sorted(discover(), key=lambda check: check.id)
    if any(f.status is Status.UNKNOWN for f in check.judge(without_peer(read(), "rac2")))
)
"""The checks that say of each node that could not be read that they do not know it."""


def without_database(facts: Cluster, why: Unknown | NotAsked) -> Cluster:
    return replace(facts, database=why, activity=why, history=why)


def diagnosed(facts: Cluster, *, account: Account | Unknown = GRID, awr: bool = False) -> Readiness:
    async def judged() -> Readiness:
        settings = Settings(cluster=ClusterSettings(networks=facts.named_networks))
        entries = tuple(Entry(s.name, "setup", "id", START, 400.0) for s in facts.read_setups())
        report = replace(await ReplayedFacts(facts, discover(), settings).run(), journal=entries)
        return readiness(report, [c.id for c in discover()], account, DatabaseSettings(diagnostics_pack=awr))

    return asyncio.run(judged())


def item(ready: Readiness, topic: Topic) -> ReadinessItem:
    return next(item for item in ready.items if item.topic is topic)


def page(ready: Readiness, monkeypatch: pytest.MonkeyPatch, *, verbose: bool = False) -> str:
    monkeypatch.setattr(page_module, "columns_of", lambda *_, **__: 80)
    text = doctor_page(ready, io.StringIO(), verbose=verbose)
    assert max(map(len, text.splitlines())) <= 80
    return text


def joined(text: str) -> str:
    return " ".join(text.split())


# --- three clusters ---------------------------------------------------------------------------------------------------


def test_a_healthy_cluster_is_ready_on_one_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    ready = diagnosed(read())
    assert (ready.unknown, ready.exit_code) == ((), ExitCode.PASS)
    assert {item.status for item in ready.items} == {Status.PASS}
    text = page(ready, monkeypatch)
    assert len(text.splitlines()) <= 24
    for words in (
        "Ready: nothing that racwire read here makes a check UNKNOWN.",
        "grid on rac1: not root, the Grid owner, in dba, OSDBA of prod1.",
        "/u01/app/19.0.0/grid, named by environment GRID_HOME; owner grid. Clusterware 19.0.0.0.0.",
        "2 of 2 nodes read: rac1 and rac2.",
        "as RACWIRE, 2 of 2 instances; python-oracledb 26.1.0, thin.",
        "rac2 agrees with rac1 within 1.0 s.",
    ):
        assert words in joined(text)


def test_without_a_database_the_page_has_the_proposal_and_the_skipped_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    connect = "racwire check --connect SCAN:1521/prod --user RACWIRE"
    why = NotAsked("No database connection is set; prod1 runs here.", ("racwire grants", connect))
    ready = diagnosed(without_database(read(), why))
    assert ready.exit_code == ExitCode.PASS
    assert item(ready, Topic.DATABASE).status is Status.SKIPPED
    assert set(OF_INSTANCES) < set(item(ready, Topic.DATABASE).skipped)
    text = page(ready, monkeypatch)
    assert connect in text
    assert len(text.splitlines()) <= 24


def test_a_hardened_cluster_names_each_refused_source_and_the_right_that_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    facts = read()
    grants = tuple(f"GRANT SELECT ON SYS.{view}_$CLUSTER_INTERCONNECTS TO RACWIRE;" for view in ("GV", "V"))
    refused = "RACWIRE may not read GV$CLUSTER_INTERCONNECTS (ORA-00942)."
    select = MissingRight("SELECT on the views", grants, "a DBA, AS SYSDBA", "racwire grants")
    keyfiles = Unknown("only root may read the keyfiles there", MissingRight("read the keyfiles", where="root"))
    facts = replace(
        facts,
        nodes=tuple(
            replace(n, unread=(Unknown(f"This user may not read /proc/x on {n.name}; root may."),)) for n in facts.nodes
        ),
        setups=tuple(replace(s, kept=keyfiles) for s in facts.setups),
        database=replace(facts.database, interconnects=Unknown(refused, select)),
    )
    ready = diagnosed(facts)
    assert (ready.unknown, ready.exit_code) == (
        ("boot-mtu", "interconnect-in-use"),
        ExitCode.COULD_NOT_TELL,
    )
    files, view, *limits = item(ready, Topic.READABLE).refusals
    assert (files.source, files.nodes, files.checks) == ("boot configuration", ("rac1", "rac2"), ("boot-mtu",))
    assert (files.next[0].text, files.next[0].where) == ("Missing right: read the keyfiles.", "root")
    assert (view.source, view.checks, view.next[0].commands) == (
        "GV$CLUSTER_INTERCONNECTS",
        ("interconnect-in-use",),
        grants,
    )
    assert [(limit.nodes, limit.checks) for limit in limits] == [(("rac1",), ()), (("rac2",), ())]
    short, whole = page(ready, monkeypatch), page(ready, monkeypatch, verbose=True)
    assert all(f"> {grant}" in short for grant in grants)
    assert "Also not read: kernel settings." in joined(short)
    assert "- Missing right" not in joined(whole), "the whole page has the reasons"
    assert refused not in joined(short), "the missing right says the same"
    assert "/proc/x on rac2; root may." in joined(whole)


def test_a_half_dead_cluster_has_the_reason_the_step_and_the_checks_of_each_fault(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ready = diagnosed(without_database(without_peer(read(), "rac2"), Unknown(NO_LISTENER)))
    assert set(ready.unknown) == {*PER_NODE, *OF_INSTANCES, "device-mtu"}
    (peer,) = item(ready, Topic.NODES).refusals
    assert (peer.nodes, peer.reason, peer.checks) == (("rac2",), NO_EQUIVALENCE.format("rac2"), PER_NODE)
    assert item(ready, Topic.DATABASE).fact == NO_LISTENER
    assert item(ready, Topic.CLOCKS).fact == "Not known: rac2."
    assert not [i for i in ready.items if i.topic is Topic.OTHER]
    text = joined(page(ready, monkeypatch))
    unknown, every = len(ready.unknown), len(tuple(discover()))
    assert f"Not ready: {unknown} of {every} checks will be UNKNOWN, in part or in full." in text
    assert text.count(NO_LISTENER) == 1
    assert "`ssh -v rac2 date`" in text


def test_a_grid_home_that_this_user_may_not_read() -> None:
    why = Unknown("The Grid home /g is not readable by oracle: run `sudo -u grid racwire check`, or racwire as root.")
    facts = replace(read(), clusterware=why, networks=why, nodes=(node(1),), setups=read().setups[:1])
    ready = diagnosed(facts)
    assert item(ready, Topic.GRID_HOME).fact == why.reason
    (home,) = item(ready, Topic.GRID_HOME).refusals
    assert set(home.checks) == {
        "address-owners",
        "bond-balance",
        "bonding",
        "boot-mtu",
        "clusterware",
        "df-ping",
        "driver-settings",
        "effective-route",
        "fragments",
        "haip-path",
        "interfaces",
        "link-saturation",
        "link-speed",
        "mtu-consistency",
        "neighbours",
        "nic-counters",
        "packet-sizes",
        "private-routes",
        "shared-network",
        "topology",
        "udp-path",
        "virtualisation",
    }


def test_one_hung_instance_is_named_once(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = read()
    why = "GV$INSTANCE did not answer in time: an instance hangs, or has no free parallel query process."
    database = replace(
        facts.database, instances=facts.database.instances[:1], unasked=(UnaskedInstance(2, "prod2", why),)
    )
    ready = diagnosed(replace(facts, database=database))
    assert [(r.source, r.reason) for r in item(ready, Topic.DATABASE).refusals] == [("prod2", why)]
    assert f"- prod2: {why}" in joined(page(ready, monkeypatch))
    assert "interconnect-in-use" in ready.unknown


# --- agreement with the checks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("nodes", [2, 3])
def test_the_doctor_predicts_what_the_checks_conclude(nodes: int) -> None:
    """The checks on all facts, paths included, are UNKNOWN where the doctor says so, without any path."""
    broken = without_peer(asked(nodes), "rac2")
    reached = tuple(p for p in broken.paths if "rac2" not in (p.from_node, p.to_node))
    concluded = [f for check in discover() for f in check.run(replace(broken, paths=reached))]
    unknown = {f.check for f in concluded if f.status is Status.UNKNOWN}
    assert set(diagnosed(without_peer(read(nodes), "rac2")).unknown) == unknown
    assert {"df-ping", "interfaces", "mtu-consistency"} < unknown


def test_a_finding_without_a_known_reason_is_named_on_its_own() -> None:
    facts = read()
    ready = diagnosed(replace(facts, nodes=tuple(replace(n, interfaces=()) for n in facts.nodes), networks=()))
    others = item(ready, Topic.OTHER).refusals
    assert {r.source for r in others} == set(ready.unknown)


def test_what_is_left_out_is_not_called_unknown() -> None:
    assert diagnosed(replace(read(), history=NotGathered())).unknown == ()


def test_no_pings_no_history_and_no_interval() -> None:
    groups = {g.group: g for g in reading.READINESS_GATHERERS}
    assert {"paths", "counters", "activity", "history"} < groups.keys()
    facts = read()

    async def gathered(group: str, known: Cluster) -> object:
        return await groups[group].gather(None, known)  # type: ignore[arg-type]

    unknown = Unknown("No Grid home.")
    assert asyncio.run(gathered("paths", facts)) == ()
    assert asyncio.run(gathered("paths", replace(facts, networks=unknown))) == unknown
    assert asyncio.run(gathered("history", replace(facts, database=unknown))) == unknown
    assert asyncio.run(gathered("activity", replace(facts, database=unknown))) == unknown


# --- the items --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ahead_s", "fact"),
    [
        (40, "rac2 is 40 to 41 s ahead of rac1."),
        (-40, "rac2 is 39 to 40 s behind rac1."),
        (0, "rac2 agrees with rac1 within 1.0 s."),
    ],
)
def test_clocks_differ_only_where_the_reading_cannot_explain_it(ahead_s: float, fact: str) -> None:
    clocks = item(diagnosed(read(ahead_s=ahead_s)), Topic.CLOCKS)
    assert clocks.fact == fact
    assert (clocks.status is Status.WARN) == (ahead_s != 0)
    assert bool(clocks.next) == (ahead_s != 0)


def test_a_slow_reading_widens_the_limits_of_the_clock() -> None:
    (one,) = clock_differences(read(ahead_s=5), [Entry("rac2", "setup", "id", START, 6000.0)])
    assert (one.low_s, one.high_s) == (-1.0, 6.0)
    assert not one.is_certain
    assert clock_differences(read(), [Entry("rac2", "setup", "id", "no time", 1.0)]) == ()
    assert clock_differences(read(), [Entry("rac2", "setup", "id", START, 1.0, outcome="interrupted")]) == ()


def test_the_licence_and_its_consequence() -> None:
    assert "racwire reads no AWR" in item(diagnosed(read()), Topic.LICENCE).fact
    assert "AWR is read." in item(diagnosed(read(), awr=True), Topic.LICENCE).fact
    forbidden = "AWR was not read: control_management_pack_access is NONE on prod1, which forbids AWR."
    refused = item(diagnosed(replace(read(), history=Unknown(forbidden)), awr=True), Topic.LICENCE)
    assert (refused.status, refused.fact) == (Status.UNKNOWN, forbidden)
    assert refused.refusals[0].checks == ("device-mtu",)
    choice = item(diagnosed(replace(read(), history=NotAsked("No history was read."))), Topic.LICENCE)
    assert (choice.status, choice.skipped) == (Status.SKIPPED, ("device-mtu",))


def test_one_node_without_clusterware() -> None:
    facts = replace(cluster([node(1)]), clusterware=Unknown("No Grid home."), named_networks=("192.168.10.0/24",))
    ready = diagnosed(without_database(replace(facts, paths=(), counters=read().counters), NotAsked("None is set.")))
    home = item(ready, Topic.GRID_HOME)
    assert "you named the private networks, 192.168.10.0/24" in home.fact
    assert (home.status, home.refusals) == (Status.SKIPPED, ())
    assert "Only this node, rac1, is known" in item(ready, Topic.NODES).fact
    assert item(ready, Topic.CLOCKS).fact == "There is no other node to compare with."


def test_json_has_every_reason_and_every_check() -> None:
    ready = diagnosed(without_peer(read(), "rac2"))
    written = json.loads(msgspec.json.encode(ready))
    assert written["schema"] == "racwire-doctor/1"
    assert written["unknown"] == list(PER_NODE)
    (nodes,) = (i for i in written["items"] if i["topic"] == "nodes")
    assert nodes["refusals"][0]["checks"] == list(PER_NODE)


def test_an_interrupted_page_has_what_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = Cluster(local_node="rac1", taken_at=START)
    engine = ReplayedFacts(nothing, discover(), Settings())
    report = engine.report(interrupted=True)
    ready = readiness(report, [c.id for c in discover()], GRID, DatabaseSettings())
    assert (ready.exit_code, ready.unknown) == (ExitCode.INTERRUPTED, ())
    assert "Interrupted: the page has what was read up to then." in joined(page(ready, monkeypatch))


def test_without_a_grid_home_one_cause_is_named_once(monkeypatch: pytest.MonkeyPatch) -> None:
    why = Unknown("No Grid Infrastructure home was found: dba1 may not read /etc/oratab. Name the home.")
    facts = replace(read(), clusterware=why, networks=why)
    ready = diagnosed(replace(facts, nodes=facts.nodes[:1], setups=why))
    (home,) = item(ready, Topic.GRID_HOME).refusals
    assert {"clusterware", "df-ping", "interfaces", "boot-mtu"} <= set(home.checks)
    text = joined(page(ready, monkeypatch))
    assert text.count("may not read /etc/oratab") == 1
    assert text.count("Name the home.") == 1
    assert "There is no other node" not in text
    assert "Only this node, rac1, is known: the list of nodes could not be read." in text


def test_a_stack_that_is_down_is_one_reason_of_no_single_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    facts, why = read(), Unknown("Clusterware is not running on this node: `crsctl check crs` printed X.")
    down = replace(facts.clusterware, members=why, local_node=why, configuration=why, version=why, misscount_s=why)
    down = replace(down, services=(ToolMessage("CRS-4639", "Could not contact Oracle High Availability Services"),))
    ready = diagnosed(replace(facts, clusterware=down, networks=why, nodes=facts.nodes[:1]))
    (refusal,) = [r for r in item(ready, Topic.READABLE).refusals if r.checks]
    assert "networks" not in (refusal.source, *refusal.others), "no source of its own"
    text = joined(page(ready, monkeypatch))
    assert text.count("Clusterware is not running") == 1
    assert "olsnodes" not in text
    assert "without effect" not in text, "other sources can matter once the stack is up"


def test_the_licence_claims_no_reading_without_the_database() -> None:
    ready = diagnosed(without_database(read(), Unknown(NO_LISTENER)), awr=True)
    assert item(ready, Topic.LICENCE).fact.endswith("No AWR is read without the database.")
