"""The check bond-balance: the packets of a bond's members in each direction, as its counters grew."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.facts import Cluster, CounterChange, CounterGroup, KernelCounters, SystemCounters, Unknown
from checks.model.finding import Status
from checks.plugins.bond_balance import bond_balance
from tests.fixtures.clusters import cluster
from tests.fixtures.databases import counters
from tests.unit.host_support import BACKUP, LACP, bonded, member

TLB = "transmit load balancing"


def counted(sent: tuple[int, int], received: tuple[int, int], mode: str = LACP, status: str = "up") -> Cluster:
    """The bond of rac2 with these packets of p0 and p1; that of rac1 is even."""

    def of(node: str, out: tuple[int, int], into: tuple[int, int]) -> CounterChange:
        nics = tuple(
            CounterGroup(name, {"tx_packets": tx, "rx_packets": rx})
            for name, tx, rx in zip(("p0", "p1"), out, into, strict=True)
        )
        return CounterChange(node, 30.0, KernelCounters(), machine=SystemCounters(nics=nics))

    built = bonded(member("p0"), member("p1", status), mode=mode)
    changes = counters(2, of("rac1", (5000, 5000), (5000, 5000)), of("rac2", sent, received))
    return msgspec.structs.replace(built, counters=changes)


def findings(built: Cluster):
    return {(f.code, f.status, f.nodes) for f in bond_balance.run(built)}


def of_rac2(built: Cluster):
    return [(f.code, f.status) for f in bond_balance.run(built) if f.nodes == ("rac2",)]


def test_a_bond_that_sends_on_one_member_and_receives_on_the_other_is_a_warning():
    (finding,) = (f for f in bond_balance.run(counted((9900, 100), (50, 9950))) if f.code == "IC-BALANCE-002")
    assert (finding.status, finding.nodes, finding.network) == (Status.WARN, ("rac2",), "192.168.11.0/24")
    assert finding.title == "eth2 of rac2 sends 99 % of its packets through p0 and receives 100 % through p1."
    assert "rac2: p1 sent 100 and received 9,950 packets" in finding.seen


@pytest.mark.parametrize(
    ("sent", "received", "mode", "expected"),
    [
        ((9900, 100), (100, 9900), BACKUP, [("IC-BALANCE-002", Status.WARN)]),
        ((9900, 100), (100, 9900), TLB, [("IC-BALANCE-002", Status.INFO)]),
        ((9900, 100), (9900, 100), LACP, [("IC-BALANCE-003", Status.INFO)]),
        ((9900, 100), (9900, 100), BACKUP, []),
        ((9900, 100), (5000, 5000), LACP, []),
        ((8900, 1100), (1100, 8900), LACP, []),
        ((999, 0), (0, 9900), LACP, []),
        ((0, 0), (0, 0), LACP, []),
    ],
)
def test_the_division_in_each_mode(sent, received, mode, expected):
    assert of_rac2(counted(sent, received, mode)) == expected


def test_even_bonds_pass():
    assert findings(counted((5000, 4000), (4500, 4500))) == {("IC-BALANCE-001", Status.PASS, ())}


def test_one_member_that_is_up_has_no_other_side():
    assert of_rac2(counted((9900, 0), (0, 9900), status="down")) == []


def test_counters_that_are_not_known_are_unknown_and_no_bond_is_skipped():
    unread = msgspec.structs.replace(counted((1, 1), (1, 1)), counters=Unknown("not counted"))
    assert findings(unread) == {("IC-BALANCE-004", Status.UNKNOWN, ("rac1", "rac2"))}
    half = counters(1)
    missing = msgspec.structs.replace(counted((1, 1), (1, 1)), counters=half)
    assert ("IC-BALANCE-004", Status.UNKNOWN, ("rac2",)) in findings(missing)
    without = msgspec.structs.replace(cluster(), counters=half)
    assert {status for _, status, _ in findings(without)} == {Status.SKIPPED}


@given(st.lists(st.integers(-(2**40), 2**70), min_size=4, max_size=4), st.text())
def test_no_count_and_no_mode_breaks_the_check(counts, mode):
    assert list(bond_balance.run(counted((counts[0], counts[1]), (counts[2], counts[3]), mode)))
