"""What is below a NIC decides where a filter of a hypervisor stands among the causes of the same losses."""

import msgspec
import pytest

from checks.diagnosis.cause import Fit
from checks.diagnosis.fitting_places import below_nics
from checks.diagnosis.seen import Seen
from checks.model.facts import Neighbour, Verdict
from checks.model.hypothesis import Place
from tests.fixtures.clusters import path
from tests.unit.host_support import healthy_host, of_hosts

PLACE = Place(networks=("192.168.11.0/24",), nodes=("rac2",))


def machines(*, is_virtual: bool | None):
    host = msgspec.structs.replace(healthy_host(), is_virtual=is_virtual)
    return of_hosts(host, host, host)


@pytest.mark.parametrize(("is_virtual", "fit"), [(True, Fit.AS_ANY), (False, Fit.NOT), (None, Fit.LESS)])
def test_a_hypervisor_comes_after_others_where_it_is_not_known_and_never_below_a_physical_nic(is_virtual, fit):
    assert below_nics(Seen(machines(is_virtual=is_virtual), ()), PLACE) is fit


def test_a_node_that_hears_its_peers_and_is_heard_by_none_points_to_its_hypervisor():
    built = machines(is_virtual=True)
    network = built.networks[1]
    nodes = tuple(
        msgspec.structs.replace(
            node,
            interfaces=tuple(
                msgspec.structs.replace(i, mac_address=f"52:54:00:00:00:0{n}") if i.name == "eth2" else i
                for i in node.interfaces
            ),
            neighbours=(Neighbour("192.168.11.1", "eth2", "52:54:00:00:00:01", "stale"),) if n == 2 else (),
        )
        for n, node in enumerate(built.nodes, 1)
    )
    silent = (path(network, "rac1", "rac2", Verdict.UNREACHABLE),)
    assert below_nics(Seen(msgspec.structs.replace(built, nodes=nodes, paths=silent), ()), PLACE) is Fit.MORE
