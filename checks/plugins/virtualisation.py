"""Do virtual machines have a NIC that is made for virtual machines?"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from checks.model.check import Kind, PassKind, check
from checks.model.effect import Effect
from checks.model.facts import Cluster, HostSetup, Unknown
from checks.model.finding import Finding, NextStep
from checks.model.networks import private_nics_of
from checks.model.shell_command import for_each
from checks.plugins.shared.grouping import alike, briefly, named, some
from checks.plugins.shared.host_facts import HOST_TOPIC, hosts_of, skipped, skipped_without_hosts
from checks.rules.host_limits import EMULATED
from checks.rules.nic_counts import harm_status, loss_ends
from checks.rules.observed.states import read_on, state

_SOURCES = ("VMware KB 1001805", "MOS 563566.1, cause 9")
SUITED = PassKind("IC-VIRT-001", "The private NICs of virtual machines are made for virtual machines")
EMULATES = Kind(
    "IC-VIRT-002",
    "A virtual machine has an emulated NIC on a private network",
    "The hypervisor imitates an old NIC register by register. That costs CPU for each packet, and the NIC drops "
    "packets at rates at which vmxnet3 or virtio does not.",
    _SOURCES,
)
NOT_KNOWN = Kind("IC-VIRT-003", "The driver of a private NIC of a virtual machine is not known")


class _Nic(NamedTuple):
    node: str
    interface: str
    driver: str


@check(
    "virtualisation",
    question="Do virtual machines have a NIC that is made for virtual machines?",
    needs=("nodes", "networks", "setups"),
    uses=("database", "activity"),
    kinds=(SUITED, EMULATES, NOT_KNOWN),
)
def virtualisation(cluster: Cluster) -> Iterator[Finding]:
    """Judges the drivers of the private NICs of nodes that are virtual machines.

    An emulated NIC (e1000, e1000e, pcnet32, 8139) is a warning, and a failure where an instance of the node loses
    blocks in this run. The check reads neither ballooning nor migrations; the hypervisor shows these.
    """
    hosts = hosts_of(cluster)
    virtual = [node for node, host in hosts.items() if host.is_virtual]
    nics = [_Nic(node, nic, driver) for node in virtual for nic, driver in _drivers(cluster, node, hosts[node])]
    losing = loss_ends(cluster).receivers
    emulated = [nic for nic in nics if nic.driver in EMULATED]
    for same in alike(emulated, lambda nic: (nic.driver, nic.node in losing)):
        yield _emulated(same, hosts, losing)
    fine = [nic for nic in nics if nic not in emulated]
    if fine:
        drivers = sorted({nic.driver for nic in fine})
        yield SUITED.finding(
            f"The private NICs of {named((n.node for n in fine), 'node')}, which are virtual machines, have the "
            f"{'driver' if len(drivers) == 1 else 'drivers'} {', '.join(drivers)}.",
            subject=", ".join(drivers),
            seen=some([f"{nic.node}: {nic.interface} {nic.driver}" for nic in fine]),
            evidence=[(node, HOST_TOPIC) for node in dict.fromkeys(nic.node for nic in fine)],
            observed=read_on(SUITED.code, [nic.node for nic in fine]),
        )
    if not nics:
        yield _not_judged(cluster, hosts, virtual)


def _not_judged(cluster: Cluster, hosts: dict[str, HostSetup], virtual: Sequence[str]) -> Finding:
    if not hosts:
        return skipped_without_hosts(SUITED)
    if virtual:
        title = f"The private NICs of {named(virtual, 'node')} have no device of their own, as in containers"
        return skipped(SUITED, f"{title}, so there is no driver to judge.", "no devices", cluster)
    return skipped(SUITED, "No node that was read reports a hypervisor.", "no hypervisor", cluster)


def _drivers(cluster: Cluster, node: str, host: HostSetup) -> Iterator[tuple[str, str]]:
    by_tool = {} if isinstance(host.drivers, Unknown) else {driver.interface: driver for driver in host.drivers}
    for nic in private_nics_of(cluster, node):
        driver = host.drivers_in_use.get(nic, "") or (by_tool[nic].driver if nic in by_tool else "")
        if driver and driver != "veth":
            yield nic, driver


def _emulated(nics: Sequence[_Nic], hosts: dict[str, HostSetup], losing: Collection[str]) -> Finding:
    nodes = list(dict.fromkeys(nic.node for nic in nics))
    product = hosts[nodes[0]].product
    verb = "has" if len(nics) == 1 else "have"
    return EMULATES.finding(
        f"{named((f'{nic.interface} of {nic.node}' for nic in nics), 'NIC')} {verb} the emulated driver "
        f"{nics[0].driver}"
        + (f", and instances on {named(nodes, 'node')} lose blocks." if nodes[0] in losing else "."),
        status=harm_status(nodes, losing),
        subject=f"{briefly(nodes, 'node')}: {nics[0].driver}",
        data={"interfaces": len(nics), "driver": nics[0].driver},
        seen=some([f"{nic.node}: {nic.interface} {nic.driver}{f' on {product}' if product else ''}" for nic in nics]),
        expected=("vmxnet3 on VMware, virtio on KVM, hv_netvsc on Hyper-V",),
        next=[
            NextStep(
                "Display the driver.",
                for_each("ethtool -i {nic}", nic=(nic.interface for nic in nics)),
                f"any user on {named(nodes, 'node')}",
            ),
            NextStep(
                "Plan a NIC of the other type with the virtualisation team: a new NIC has another name and MAC "
                "address, so one node after the other.",
                is_change=True,
                effect=Effect.NODE_OUT_FIRST,
            ),
        ],
        evidence=[(node, HOST_TOPIC) for node in nodes],
        nodes=nodes,
        extent=(len(nics), "interfaces"),
        observed=[state("driver", nic.node, nic=nic.interface, value=nic.driver) for nic in nics],
    )
