"""Pairs of faults that racwire 0.2.0 diagnosed wrongly, and what a report must and must not say of each.

The findings named here are those of faults that the facts contain; the truth is that of the simulator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache

from msgspec.structs import replace

from checks.model.facts import Cluster, CounterGroup, InterconnectInUse
from checks.model.finding import NextStep, Status
from checks.model.hypothesis import Certainty, Hypothesis, LossAccount
from checks.model.report import Report
from checks.report.causes import FOUND, ReportEntry, cause_entries
from checks.report.other_causes import other_causes
from tests.simulator.facts import facts_of
from tests.simulator.faults import Fault
from tests.simulator.judging import report_of

NET1, NET2 = "192.168.10.0/24", "192.168.11.0/24"


def _link_down_and_duplicate() -> Cluster:
    return facts_of([Fault("link-down", 2, "rac2"), Fault("duplicate-address", 2, "rac2")])


def _link_down_and_parameter() -> Cluster:
    return facts_of([Fault("link-down", 2, "rac2"), Fault("cluster-interconnects-set", 0, "rac2")])


def _link_down_and_public() -> Cluster:
    """An instance uses the public network, as with oifcfg's type left at public."""
    made = facts_of([Fault("link-down", 2, "rac2")])
    own = InterconnectInUse(2, "eth0", "10.20.0.2", True, "cluster_interconnects parameter")
    used = tuple(use for use in made.database.interconnects if use.instance != 2)
    return replace(made, database=replace(made.database, interconnects=(*used, own)))


def _node_mtu_and_policer() -> Cluster:
    return facts_of([Fault("node-mtu", 1, "rac2"), Fault("udp-policed", 1)])


def _three_other_users() -> Cluster:
    return facts_of(
        [
            Fault("stranger-traffic", 2, "rac1", "rac2"),
            Fault("route-over-private", 1, "rac3"),
            Fault("foreign-host", 1),
        ]
    )


def _udp_skipped() -> Cluster:
    """A link of an aggregation carries no jumbo frames on network 2, where no datagram was sent."""
    made = facts_of([Fault("lag-member-mtu", 2)])
    reason = "another racwire sent datagrams from this node"
    probes = tuple(replace(p, ports=(), reason=reason) if p.network == NET2 else p for p in made.flows.probes)
    return replace(made, flows=replace(made.flows, probes=probes))


def _fragments_and_memory() -> Cluster:
    return facts_of([Fault("drop-fragments", 1), Fault("small-reassembly-memory", 0, "rac2")], mtu=1500)


def _wrong_neighbour_and_policer() -> Cluster:
    return facts_of([Fault("wrong-neighbour", 1, "rac1", "rac2"), Fault("icmp-policed", 1)])


def _flapping_port() -> Cluster:
    """The queue of a NIC drops what is sent while its link is down."""
    made = facts_of([Fault("sender-queue", 1, "rac2")])

    def flapped(nic: CounterGroup) -> CounterGroup:
        return replace(nic, counts={**nic.counts, "carrier_changes": 6}) if nic.name == "eth1" else nic

    changes = tuple(
        replace(c, machine=replace(c.machine, nics=tuple(map(flapped, c.machine.nics)))) if c.node == "rac2" else c
        for c in made.counters.nodes
    )
    return replace(made, counters=replace(made.counters, nodes=changes))


def _filter_of_pings() -> Cluster:
    return facts_of([Fault("icmp-filtered", 0, "rac2")])


def _fewer_blocks_above_more() -> Cluster:
    return facts_of([Fault("switch-mtu", 1), Fault("small-receive-buffer", 0, "rac2")])


ROWS: Mapping[str, Callable[[], Cluster]] = {
    made.__name__.strip("_"): made
    for made in (
        _link_down_and_duplicate, _link_down_and_parameter, _link_down_and_public, _node_mtu_and_policer,
        _three_other_users, _udp_skipped, _fragments_and_memory, _wrong_neighbour_and_policer, _flapping_port,
        _filter_of_pings, _fewer_blocks_above_more,
    )
}  # fmt: skip


@cache
def diagnosed(row: str) -> Report:
    return report_of(ROWS[row]())


def entry(report: Report, cause: str, *nodes: str) -> ReportEntry:
    """Return the entry of a cause, at a place with these nodes."""
    (found,) = (
        e for e in cause_entries(report) if e.causes[0].cause == cause and {*nodes} <= {*e.causes[0].nodes}
    )  # fmt: skip
    return found


def order(report: Report) -> list[str]:
    return [e.causes[0].cause for e in cause_entries(report)]


def explained(report: Report, cause: Hypothesis) -> set[str]:
    """The codes of all findings that are said to end with a cause, in full, in part, or with others."""
    keys = (*cause.explains, *cause.in_part, *(one.finding for one in cause.together))
    return {f.code for f in report.findings_of(keys)}


def ends_with(report: Report, cause: str, *nodes: str) -> set[str]:
    return explained(report, entry(report, cause, *nodes).causes[0])


def standing(report: Report, cause: str) -> Hypothesis:
    (found,) = (h for h in report.diagnosis.hypotheses if h.cause == cause)
    return found


def words(steps: Iterable[NextStep]) -> str:
    return "\n".join(part for step in steps for part in (step.advice, step.where, *step.commands))


def accounts(report: Report) -> dict[str, LossAccount]:
    return {account.node: account for account in report.diagnosis.accounts}


# --- what nobody's fault is nobody's effect ---------------------------------------------------------------------------


def test_a_duplicate_address_behind_a_link_that_is_down_is_a_cause_of_its_own():
    report = diagnosed("link_down_and_duplicate")
    assert order(report) == ["CAUSE-37", "CAUSE-39"]
    assert not {"IC-NEIGH-004", "IC-OWNER-002"} & ends_with(report, "CAUSE-37", "rac2")
    second = entry(report, "CAUSE-39", "rac1", "rac2")
    assert second.causes[0].standing is Certainty.PROVED
    assert second.next


def test_a_parameter_is_the_effect_of_no_link():
    for row, codes, remedy in (
        ("link_down_and_parameter", {"IC-USE-004"}, "RESET cluster_interconnects"),
        ("link_down_and_public", {"IC-USE-002", "IC-USE-004"}, "RESET cluster_interconnects"),
    ):
        report = diagnosed(row)
        assert not codes & ends_with(report, "CAUSE-37", "rac2"), row
        own = entry(report, "CAUSE-36", "rac2")
        assert codes == {f.code for f in own.findings}, row
        assert remedy in words(own.next), row
        assert not ends_with(report, "CAUSE-36", "rac2"), row


def test_other_users_of_the_private_networks_explain_one_another_nowhere():
    report = diagnosed("three_other_users")
    shares = [e for e in cause_entries(report) if e.causes[0].cause == "CAUSE-06"]
    shown = {f.code: e.causes[0].networks for e in shares for f in e.findings}
    assert shown["IC-SHARE-002"] == (NET2,)
    assert shown["IC-TOPO-002"] == (NET1,)
    assert not any(explained(report, e.causes[0]) for e in shares)
    assert any(f.code == "IC-ROUTE-002" and "rac3" in f.nodes for f in report.findings)


# --- each receiver, size and address for itself -----------------------------------------------------------------------


def test_the_mtu_of_a_node_loses_no_block_that_the_node_sends():
    report = diagnosed("node_mtu_and_policer")
    for node in ("rac1", "rac3"):
        assert not [code for code in accounts(report)[node].explained if "CAUSE-05" in code]
    assert "CAUSE-05" in "".join(accounts(report)["rac2"].explained)
    assert not {"IC-REASM-002", "IC-FLOW-005"} & ends_with(report, "CAUSE-05", "rac2")


def test_a_policer_beside_the_mtu_of_a_node_is_named():
    report = diagnosed("node_mtu_and_policer")
    assert any(h.cause == "CAUSE-73" for h in report.diagnosis.with_standing(*FOUND))


def test_the_reassembly_memory_of_one_node_explains_no_loss_of_another():
    report = diagnosed("fragments_and_memory")
    memory = entry(report, "CAUSE-03", "rac2")
    assert [f.code for f in memory.findings] == ["IC-REASM-003"]
    for key in (*memory.causes[0].explains, *memory.causes[0].in_part):
        (finding,) = report.findings_of((key,))
        # The nodes of a finding about lost blocks are also those that sent them.
        lost_at = {
            node for seen in finding.observed if seen.is_loss for leg in seen.legs for node in leg.receivers or ()
        }
        assert (lost_at or set(finding.nodes)) == {"rac2"}, finding.title
    assert "network team" not in words(memory.next)


def test_the_blocks_that_a_node_cannot_reassemble_are_explained():
    report = diagnosed("fragments_and_memory")
    assert "IC-LOST-002" in ends_with(report, "CAUSE-03", "rac2")
    assert not report.diagnosis.unexplained


def test_an_entry_for_one_address_explains_no_pings_of_another():
    report = diagnosed("wrong_neighbour_and_policer")
    assert "IC-HAIP-002" not in ends_with(report, "CAUSE-81", "rac1")
    assert "IC-HAIP-002" in ends_with(report, "CAUSE-75")
    assert "IC-FLOW-013" in ends_with(report, "CAUSE-81", "rac1")


def test_the_cause_of_more_lost_blocks_stands_first():
    report = diagnosed("fewer_blocks_above_more")
    assert order(report) == ["CAUSE-12", "CAUSE-02"]
    first, second = (e.causes[0].lost_blocks for e in cause_entries(report))
    assert first > second > 0


# --- one network proves nothing about another -------------------------------------------------------------------------


def test_what_was_not_sent_on_one_network_excludes_nothing_there():
    report = diagnosed("udp_skipped")
    for code in ("CAUSE-70", "CAUSE-71"):
        cause = standing(report, code)
        assert cause.standing is Certainty.NOT_EXAMINED, code
        assert cause.excluded_on == (NET1,), code
    said = dict(other_causes(report))["Excluded"]
    assert f"CAUSE-70 and 71 (on {NET1}; not examined on {NET2}" in said


# --- next steps -------------------------------------------------------------------------------------------------------


def test_the_queue_of_a_port_that_flaps_is_not_changed():
    report = diagnosed("flapping_port")
    assert order(report) == ["CAUSE-40"]
    assert not [f for f in report.findings if f.code == "IC-NIC-005"]
    (unlinked,) = (f for f in report.findings if f.code == "IC-NIC-011")
    assert unlinked.status is Status.INFO
    assert not [step for step in unlinked.next if step.is_change]


def test_what_vanishes_at_a_node_sends_nobody_to_the_network_team():
    report = diagnosed("filter_of_pings")
    assert order(report) == ["CAUSE-08"]
    assert [f.code for f in entry(report, "CAUSE-08", "rac2").findings] == ["IC-FILTER-002"]
    said = [f for f in report.findings if f.code in ("IC-FLOW-010", "IC-PATH-007", "IC-HAIP-002", "IC-FILTER-002")]
    assert len(said) > 3
    for finding in said:
        assert "network team" not in words(finding.next), finding.code
        assert "rac2" in words(finding.next), finding.code


# --- larger clusters --------------------------------------------------------------------------------------------------


def test_a_share_that_a_whole_network_loses_is_one_entry_in_a_large_cluster():
    report = report_of(facts_of([Fault("icmp-policed", 2)], nodes=8))
    assert [(e.causes[0].cause, e.causes[0].networks) for e in cause_entries(report)] == [("CAUSE-75", (NET2,))]
