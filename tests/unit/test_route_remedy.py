"""The step that removes the MTU of a route changes the route that is there, and names the file that keeps it."""

from __future__ import annotations

import msgspec
import pytest

from checks.model.effect import Effect
from checks.model.facts import KeptMtu, NetworkService, Route
from checks.plugins.shared.route_remedy import without_mtu
from tests.fixtures.clusters import cluster, node, setup

NETWORK_SERVICES = [
    (NetworkService.NETWORK_MANAGER, "ipv4.routes of NetworkManager's connection priv1"),
    (NetworkService.IFCFG, "/etc/sysconfig/network-scripts/route-eth1"),
    (NetworkService.NETWORKD, "[Route] of /etc/file"),
    (NetworkService.UNKNOWN, "the file that sets it"),
]


@pytest.mark.parametrize(("network_service", "place"), NETWORK_SERVICES)
def test_the_route_keeps_its_metric_and_the_step_names_its_file(network_service: NetworkService, place: str) -> None:
    kept = KeptMtu("eth1", network_service, "/etc/file", "priv1")
    there = msgspec.structs.replace(setup(node(1)), kept=(kept,))
    built = msgspec.structs.replace(cluster(2), setups=(there,))
    route = Route("192.168.10.0/24", "eth1", mtu=1400, source="192.168.10.1", metric=101)
    step = without_mtu(built, node(1), route)
    assert step.commands == ("ip route change 192.168.10.0/24 dev eth1 src 192.168.10.1 metric 101",)
    assert step.text.endswith(f"remove the MTU from {place}.")
    assert step.effect is Effect.HARMLESS


def test_a_node_whose_setup_was_not_read_has_the_command_too() -> None:
    built = msgspec.structs.replace(cluster(2), setups=())
    step = without_mtu(built, node(1), Route("169.254.0.0/17", "eth1", mtu=1400))
    assert step.commands == ("ip route change 169.254.0.0/17 dev eth1",)
