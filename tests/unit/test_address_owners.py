"""ARP probes, the check of second owners, and the pings between HAIP addresses."""

from __future__ import annotations

from types import SimpleNamespace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.facts import (
    Address,
    AddressProbe,
    AddressProbes,
    HaipPath,
    HaipPaths,
    InterconnectInUse,
    PingSeries,
    Port,
    Unknown,
)
from checks.model.finding import Status
from checks.model.journal import Journal
from checks.model.settings import Settings
from checks.plugins.address_owners import address_owners
from checks.plugins.haip_path import haip_path
from checks.rules.path_status import haip_path_status
from checks.sources.nodes.shell import ShellError
from checks.sources.probes import haip_pings
from checks.sources.probes.address_probes import arp_answer, arp_probe
from checks.sources.probes.haip_pings import haip_ports
from checks.sources.probes.pinger import Request
from tests.fixtures.clusters import cluster, node, with_interface
from tests.fixtures.databases import database

MAC = bytes.fromhex("020000000101")


def test_a_probe_has_no_sender_address_and_asks_all() -> None:
    frame = arp_probe(MAC, "192.168.11.2")
    assert frame[:6] == b"\xff" * 6
    assert frame[20:22] == b"\0\1"
    assert frame[28:32] == b"\0" * 4
    assert frame[38:42] == bytes([192, 168, 11, 2])


def test_a_reply_names_address_and_mac_and_a_probe_is_none() -> None:
    probe = arp_probe(MAC, "192.168.11.2")
    reply = probe[:20] + b"\0\2" + bytes.fromhex("020000000202") + bytes([192, 168, 11, 2]) + probe[32:]
    assert arp_answer(reply) == ("192.168.11.2", "02:00:00:00:02:02")
    assert arp_answer(probe) is None


@given(st.binary(max_size=80))
def test_no_frame_breaks_the_parser(frame: bytes) -> None:
    arp_answer(frame)


def owners(probes):
    nodes = [with_interface(node(n), "eth2", mac_address=f"02:00:00:00:02:0{n}") for n in (1, 2)]
    facts = msgspec.structs.replace(cluster(nodes), owners=probes)
    return {f.code: f for f in address_owners.run(facts)}


def probe(*macs: str) -> AddressProbes:
    return AddressProbes("rac1", (AddressProbe("192.168.11.0/24", "rac2", "192.168.11.2", "eth2", 2, macs),))


def test_the_owner_s_answer_passes():
    assert owners(probe("02:00:00:00:02:02"))["IC-OWNER-001"].status is Status.PASS


def test_a_second_answer_is_a_second_owner():
    finding = owners(probe("02:00:00:00:02:02", "02:ff:ff:ff:ff:ff"))["IC-OWNER-002"]
    assert finding.title == (
        "A second host answers for 192.168.11.2 of rac2 on 192.168.11.0/24: the NIC 02:ff:ff:ff:ff:ff."
    )
    assert (finding.status, finding.nodes) == (Status.FAIL, ("rac2",))


def test_a_second_owner_in_the_cluster_is_named():
    assert "eth2 of rac1" in owners(probe("02:00:00:00:02:01"))["IC-OWNER-002"].title


def test_without_the_right_nothing_was_looked_at():
    finding = owners(AddressProbes("rac1", Unknown("this user of rac1 may not send ARP probes")))["IC-OWNER-003"]
    assert finding.status is Status.SKIPPED
    assert [f.status for f in address_owners.run(cluster())] == [Status.SKIPPED]


# --- HAIP -------------------------------------------------------------------------------------------------------------


def with_haip(*addresses: str):
    nodes = [
        with_interface(node(n), "eth2", addresses=(*node(n).interface("eth2").addresses, Address(ip, 17)))
        for n, ip in enumerate(addresses, 1)
    ]
    return cluster(nodes)


def in_use(*addresses: str):
    rows = tuple(InterconnectInUse(n, "eth2:1", ip, None, "") for n, ip in enumerate(addresses, 1))
    return msgspec.structs.replace(database(), interconnects=rows)


def test_an_address_is_pinged_where_the_instance_uses_it_and_the_nic_has_it():
    facts = msgspec.structs.replace(
        with_haip("169.254.1.1", "169.254.1.2"), database=in_use("169.254.1.1", "169.254.9.9")
    )
    assert [[p.ip for p in ports] for ports in haip_ports(facts).values()] == [["169.254.1.1"]]


def pinged(*paths: HaipPath, reason: str = ""):
    return {f.code: f for f in haip_path.run(msgspec.structs.replace(cluster(), haip_paths=HaipPaths(paths, reason)))}


def haip(small: int, full: int) -> HaipPath:
    return HaipPath(
        "192.168.11.0/24", "rac1", "rac2", "169.254.1.1", "169.254.1.2", 9000,
        small_sent=1, small_answered=small, full_sent=3, full_answered=full,
    )  # fmt: skip


def test_haip_addresses_that_answer_pass_and_others_fail():
    assert pinged(haip(1, 3))["IC-HAIP-001"].status is Status.PASS
    lost = pinged(haip(1, 0))["IC-HAIP-002"]
    assert lost.title == "No ping of 9000 bytes passes on 192.168.11.0/24 between HAIP addresses, from rac1 to rac2."
    assert lost.status is Status.FAIL
    assert pinged(haip(0, 0))["IC-HAIP-010"].title.startswith("No ping passes")
    assert pinged(haip(1, 2))["IC-HAIP-002"].status is Status.WARN


def sent_of(full: int, answered: int, *, small: tuple[int, int] = (1, 1), refused: int = 0) -> HaipPath:
    return msgspec.structs.replace(
        haip(1, 0), small_sent=small[0], small_answered=small[1], full_sent=full, full_answered=answered,
        full_refused=refused,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("path", "code", "status"),
    [
        (sent_of(1, 0), "IC-HAIP-011", Status.UNKNOWN),
        (sent_of(2, 0), "IC-HAIP-011", Status.UNKNOWN),
        (sent_of(1, 0, small=(1, 0)), "IC-HAIP-011", Status.UNKNOWN),
        (sent_of(2, 1), "IC-HAIP-011", Status.UNKNOWN),
        (sent_of(5, 4, small=(3, 3)), "IC-HAIP-011", Status.UNKNOWN),
        (sent_of(5, 5, small=(3, 2)), "IC-HAIP-011", Status.UNKNOWN),
        (sent_of(0, 0), "IC-HAIP-011", Status.UNKNOWN),
        (sent_of(2, 0, refused=2), "IC-HAIP-002", Status.FAIL),
        (sent_of(5, 0, small=(3, 3)), "IC-HAIP-002", Status.FAIL),
        (sent_of(5, 5, small=(3, 0)), "IC-HAIP-002", Status.WARN),
        (sent_of(2, 2), "IC-HAIP-001", Status.PASS),
    ],
)
def test_one_or_two_pings_between_haip_addresses_decide_nothing(path: HaipPath, code: str, status: Status):
    assert {code: finding.status for code, finding in pinged(path).items()} == {code: status}


class Answering:
    """A pinger that answers so many pings of each request, in their order, and then all."""

    def __init__(self, *answered: int) -> None:
        self.answered = list(answered)
        self.requests: list[int] = []

    async def pinger(self, path: object, limits: object) -> Answering:
        return self

    async def ping(self, requests: list[Request], *, timeout_s: float) -> list[PingSeries]:
        self.requests += [request.count for request in requests]
        return [
            PingSeries(r.payload, r.count, min(r.count, self.answered.pop(0) if self.answered else r.count))
            for r in requests
        ]

    async def shell(self, node: str) -> object:
        raise ShellError("not here")


@pytest.mark.parametrize(
    ("answered", "sent", "status"),
    [
        ((1, 2), [1, 2], Status.PASS),
        ((0, 0), [1, 2, 3, 5], Status.PASS),
        ((1, 1), [1, 2, 3, 5], Status.PASS),
        ((1, 1, 3, 4), [1, 2, 3, 5], Status.UNKNOWN),
        ((1, 1, 3, 0), [1, 2, 3, 5], Status.FAIL),
        ((0, 2, 0, 5), [1, 2, 3, 5], Status.WARN),
    ],
)
async def test_a_lost_ping_between_haip_addresses_is_repeated_and_only_the_repetition_decides(answered, sent, status):
    hosts = Answering(*answered)
    ends = [Port(f"rac{n}", "eth2", f"169.254.1.{n}") for n in (1, 2)]
    network = cluster().networks[1]
    session = SimpleNamespace(journal=Journal(), settings=Settings())
    path = await haip_pings._ping(network, *ends, hosts, session, haip_pings._Turns())
    assert hosts.requests == sent
    assert haip_path_status(path) is status


async def test_paths_that_are_not_pinged_again_in_time_are_not_judged(monkeypatch):
    monkeypatch.setattr(haip_pings, "AGAIN_WITHIN_S", 0.0)
    ends = [Port(f"rac{n}", "eth2", f"169.254.1.{n}") for n in (1, 2)]
    session = SimpleNamespace(journal=Journal(), settings=Settings())
    path = await haip_pings._ping(cluster().networks[1], *ends, Answering(1, 0), session, haip_pings._Turns())
    assert haip_path_status(path) is Status.UNKNOWN
    assert pinged(path)["IC-HAIP-011"].seen[-1] == "racwire pinged no path again after 0 s"


def test_without_haip_the_check_is_skipped():
    assert (
        pinged(reason="No database was queried, so the HAIP addresses in use are not known.")["IC-HAIP-003"].status
        is Status.SKIPPED
    )
