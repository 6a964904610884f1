"""What LACP makes of a bond: files of /proc/net/bonding as the driver prints them, and what is said of each."""

from __future__ import annotations

import pytest

from checks.model.facts import Bond
from checks.model.finding import Status
from checks.plugins.bonding import bonding
from checks.sources.nodes.setup_bonds import parse_bonds
from tests.unit.host_support import bonded

ZEROS = "00:00:00:00:00:00"
SWITCH = "00:1c:73:aa:bb:cc"


def member(name: str, aggregator: str = "1", *, churn: str = "none", partner: str = "", state: int = 0) -> str:
    """A member whose link is up; with `partner`, as root sees it."""
    text = f"""
Slave Interface: {name}
MII Status: up
Speed: 25000 Mbps
Duplex: full
Aggregator ID: {aggregator}
Actor Churn State: {churn}
Partner Churn State: {churn}
"""
    details = f"""details actor lacp pdu:
    system mac address: 00:0a:f7:11:22:33
    port state: {state}
details partner lacp pdu:
    system mac address: {partner}
    port state: 61
"""
    return text + (details if partner else "")


def bond(*members: str, mii: str = "up", partner: str = SWITCH, min_links: int = 0, rate: str = "fast") -> Bond:
    """A bond of 802.3ad on eth2; without a partner it has no active aggregator."""
    active = f"Active Aggregator Info:\n\tAggregator ID: 1\n\tPartner Mac Address: {partner}\n"
    text = (
        f"Bonding Mode: IEEE 802.3ad Dynamic link aggregation\nMII Status: {mii}\nMII Polling Interval (ms): 100\n"
        f"802.3ad info\nLACP rate: {rate}\nMin links: {min_links}\n"
        + (active if partner else "bond eth2 has no active aggregator\n")
        + "".join(members)
    )
    (found,) = parse_bonds("\n".join(f"eth2:{line}" for line in text.split("\n")))
    return found


def said(of: Bond) -> list[tuple[Status, str, str]]:
    built = bonded(
        *of.members,
        **{name: getattr(of, name) for name in ("mii_status", "has_active_aggregator", "aggregator_id", "min_links")},
        partner_mac=of.partner_mac,
    )
    found = [f for f in bonding.run(built) if f.status in (Status.FAIL, Status.WARN)]
    return [(f.status, f.code, f.title) for f in found]


TWO = ("p0", "p1")


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (
            bond(*(member(name, "N/A") for name in TWO), partner=""),
            (Status.FAIL, "IC-BOND-013", "has no active aggregator and carries no packet, though p0 and p1 are up."),
        ),
        (
            bond(member("p0"), member("p1", "2"), partner=ZEROS),
            (Status.FAIL, "IC-BOND-017", "The switch sends no LACP to eth2 of rac2: of p0 and p1 the bond uses p0."),
        ),
        (
            bond(member("p0", "2"), member("p1"), partner=ZEROS, rate="slow"),
            (Status.FAIL, "IC-BOND-017", "of p0 and p1 the bond uses p1."),
        ),
        (
            bond(member("p0"), member("p1"), partner=ZEROS),
            (Status.FAIL, "IC-BOND-017", "of p0 and p1 the bond uses one."),
        ),
        (
            bond(member("p0"), member("p1"), mii="down", min_links=3),
            (
                Status.FAIL,
                "IC-BOND-013",
                "is down: p0 and p1 are up, and min_links asks for 3 members in the aggregation",
            ),
        ),
        (
            bond(member("p0"), member("p1"), mii="down"),
            (Status.FAIL, "IC-BOND-013", "eth2 of rac2 is down and carries no packet, though p0 and p1 are up."),
        ),
        (
            bond(*(member(name, churn="churned", partner=SWITCH, state=0x07) for name in TWO)),
            (Status.FAIL, "IC-BOND-013", "LACP does not settle, and p0 and p1 neither receive nor send."),
        ),
        (
            bond(*(member(name, churn="churned") for name in TWO)),
            (Status.WARN, "IC-BOND-014", "LACP does not settle on p0 and p1 of eth2 of rac2"),
        ),
        (
            bond(*(member(name, churn="churned", partner=SWITCH, state=0x3F) for name in TWO)),
            (Status.WARN, "IC-BOND-014", "LACP does not settle on p0 and p1"),
        ),
        (
            bond(member("p0"), member("p1", "N/A")),
            (Status.WARN, "IC-BOND-014", "p1 of eth2 of rac2 is up and in no aggregation."),
        ),
        (
            bond(member("p0", partner=SWITCH, state=63), member("p1", "2", partner=ZEROS, state=69)),
            (Status.FAIL, "IC-BOND-003", "in different aggregations: p0 1, p1 2. The switch sends no LACP to p1."),
        ),
    ],
)
def test_what_lacp_makes_of_two_members_that_are_up(found: Bond, expected: tuple[Status, str, str]) -> None:
    ((status, code, title),) = said(found)
    assert (status, code) == expected[:2]
    assert expected[2] in title


def test_members_in_different_aggregations_that_are_too_few_are_two_facts() -> None:
    found = said(bond(member("p0"), member("p1", "2"), mii="down", min_links=2))
    assert [code for _, code, _ in found] == ["IC-BOND-003", "IC-BOND-013"]
    assert "min_links asks for 2 members" in found[1][2]


def test_a_single_member_needs_no_aggregation_and_the_lack_of_lacp_is_a_warning() -> None:
    found = said(bond(member("p0"), partner=ZEROS))
    assert [(status, code) for status, code, _ in found] == [
        (Status.WARN, "IC-BOND-006"),
        (Status.WARN, "IC-BOND-014"),
    ]


@pytest.mark.parametrize("rate", ["slow", "fast"])
def test_a_settled_bond_is_sound_at_either_rate(rate: str) -> None:
    assert said(bond(*(member(name, partner=SWITCH, state=63) for name in TWO), rate=rate)) == []


def test_the_ends_of_a_link_are_told_apart() -> None:
    (one,) = bond(member("p0", partner=SWITCH, state=69)).members
    assert (one.partner_mac, one.port_state, one.is_idle) == (SWITCH, 69, True)
    (hidden,) = bond(member("p0")).members
    assert (hidden.partner_mac, hidden.port_state, hidden.is_idle) == ("", None, False)
