"""Two private interfaces of a node with each other's address."""

import pytest

from checks.model.finding import Status
from checks.plugins.interfaces import interfaces
from tests.fixtures.clusters import cluster, node, with_interface


def swapped(number: int):
    built = node(number)
    first, second = (built.interface(f"eth{n}").addresses for n in (1, 2))
    return with_interface(with_interface(built, "eth1", addresses=second), "eth2", addresses=first)


@pytest.mark.parametrize("nodes", [2, 3, 8])
def test_exchanged_addresses_are_one_finding_and_no_names_that_differ(nodes):
    built = cluster([*(node(n) for n in range(1, nodes)), swapped(nodes)])
    faults = [f for f in interfaces.run(built) if f.status is not Status.PASS]
    assert [(f.code, f.status, f.nodes) for f in faults] == [("IC-IFACE-031", Status.FAIL, (f"rac{nodes}",))]
    assert faults[0].title.startswith(f"eth1 and eth2 of rac{nodes} have each other's address: eth1 has 192.168.11.")


def test_addresses_that_are_exchanged_on_every_node_are_a_wrong_configuration_of_clusterware():
    faults = {f.code for f in interfaces.run(cluster([swapped(1), swapped(2)])) if f.status is not Status.PASS}
    assert faults == {"IC-IFACE-005"}
