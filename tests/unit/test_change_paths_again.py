"""Full-size paths are proved again before the second node starts, and before the databases open."""

import msgspec
import pytest

from checks.change.plan.change_plan import Gate
from checks.change.plan.layers import haip_addresses
from checks.change.session.verifying import Verification
from checks.model.facts import Address, HaipPath, HaipPaths, Verdict
from checks.model.settings import Settings
from tests.unit.change_support import STEPS, SUBNET, cluster, down, nic, plan, setup, until, verification_events
from tests.unit.change_verifying_support import not_held, verified
from tests.unit.change_wanted_support import UP, alone

PATHS = (Gate("df-ping"), Gate("one-byte-more"), Gate("haip-path"))
PROVED_AGAIN = plan(
    steps=tuple(
        msgspec.structs.replace(step, gates=(*step.gates[:1], *PATHS[: 2 if step.id == "first-node" else 3]))
        if step.id in ("first-node", "other-nodes")
        else step
        for step in STEPS
    )
)
PING = HaipPath(SUBNET, "rac1", "rac2", "169.254.1.1", "169.254.1.2", 9000, 1, 1, 3, 3)
HAIP = HaipPaths((PING,))


def lowered(now):
    """Return the cluster with a switch port that drops full-size packets to rac3."""
    paths = tuple(
        msgspec.structs.replace(path, verdict=Verdict.BLACK_HOLE, path_mtu=1500) if path.to_node == "rac3" else path
        for path in now.paths
    )
    return msgspec.structs.replace(now, paths=paths)


@pytest.mark.parametrize(
    ("step", "now"),
    [
        ("first-node", alone(down(9000, rac1=setup("rac1", mtu=9000, autostart=False)))),
        ("other-nodes", msgspec.structs.replace(UP, haip_paths=HAIP)),
    ],
)
def test_a_port_that_was_lowered_after_the_proof_is_found_before_the_next_start(step, now):
    of = until(step, now, PROVED_AGAIN)
    assert verified(verification_events(of, now)).passed
    events = verification_events(of, lowered(now))
    assert not verified(events).passed
    assert {check for check, _ in not_held(events)} == {"df-ping"}


@pytest.mark.parametrize(
    "haip",
    [
        HaipPaths((msgspec.structs.replace(PING, full_answered=0),)),
        HaipPaths((msgspec.structs.replace(PING, full_answered=2),)),
        HaipPaths(reason="No two nodes have HAIP addresses on their private NICs."),
    ],
)
def test_haip_addresses_without_full_size_packets_keep_the_databases_down(haip):
    now = msgspec.structs.replace(UP, haip_paths=haip)
    events = verification_events(until("other-nodes", UP, PROVED_AGAIN), now)
    assert {check for check, _ in not_held(events)} == {"haip-path"}


def test_the_addresses_are_those_of_private_nics_and_no_instance_is_asked():
    haip = [Address(f"169.254.1.{n}", 16, "") for n in (1, 2)]
    ports = [
        msgspec.structs.replace(port, addresses=(*port.addresses, own))
        for port, own in zip((nic(f"rac{n}", 9000).interfaces[0] for n in (1, 2)), haip, strict=True)
    ]
    usb = msgspec.structs.replace(ports[0], name="usb0", addresses=(Address("169.254.95.118", 16, ""),))
    nodes = [
        msgspec.structs.replace(nic("rac1", 9000), interfaces=(ports[0], usb)),
        msgspec.structs.replace(nic("rac2", 9000), interfaces=(ports[1],)),
    ]
    found = haip_addresses(cluster(9000, rac1=nodes[0], rac2=nodes[1]))
    assert {name: [(port.node, port.ip) for port in own] for name, own in found.items()} == {
        SUBNET: [("rac1", "169.254.1.1"), ("rac2", "169.254.1.2")]
    }
    assert haip_addresses(cluster(9000, rac1=nodes[0])) == {}
    made = Verification(until("other-nodes", UP, PROVED_AGAIN), Settings(), node="rac1")
    assert "haip_paths" in {group for check in made.checks for group in check.uses}
