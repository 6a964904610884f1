"""The faults that can be practised on: what each is called, where it strikes, and what it does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from racwire_lab.cluster.topology import PRIVATE, STANDARD_MTU, Shape
from racwire_lab.lab_errors import LabUsageError

Scope = Literal["nic", "node", "network", "cluster"]


@dataclass(frozen=True)
class Fault:
    """One fault of the catalogue. Its scope says which of a node and a private network it is broken at."""

    name: str
    summary: str
    effect: str
    scope: Scope
    default_node: str | None = "rac2"
    default_network: int | None = 2
    needs_nft: bool = False
    needs_jumbo: bool = False
    needs_fragments: bool = False
    needs_database: bool = False

    @property
    def needs(self) -> str:
        """Requirements beyond the running cluster; empty when there are none."""
        needs = []
        if self.needs_nft:
            needs.append("the nft command")
        if self.needs_jumbo:
            needs.append("a cluster with an MTU above 1500")
        if self.needs_fragments:
            needs.append("a cluster with an MTU of 1500, where blocks are cut into fragments")
        if self.needs_database:
            needs.append("the practice database")
        return " and ".join(needs)


@dataclass(frozen=True)
class ActiveFault:
    """A fault that is broken now, and where; None where the fault strikes all nodes or networks."""

    fault: str
    node: str | None
    network: int | None

    def __str__(self) -> str:
        where = [self.node or "", f"eth{self.network}" if self.network else ""]
        place = " ".join(part for part in where if part)
        return f"{self.fault} ({place})" if place else self.fault


def _nic(name: str, summary: str, effect: str, *, nft: bool = False, jumbo: bool = False) -> Fault:
    return Fault(name, summary, effect, "nic", needs_nft=nft, needs_jumbo=jumbo)


def _node(name: str, summary: str, effect: str, *, nft: bool = False, database: bool = False) -> Fault:
    return Fault(name, summary, effect, "node", default_network=None, needs_nft=nft, needs_database=database)


def _database(name: str, summary: str, effect: str) -> Fault:
    return Fault(name, summary, effect, "cluster", default_node=None, default_network=None, needs_database=True)


_CATALOGUE = (
    _nic(
        "node-mtu",
        "One private NIC of one node is at MTU 1500.",
        "Sets the MTU of the NIC to 1500 while all others stay large: the node itself refuses large packets, and "
        "what the others send to it is lost.",
        jumbo=True,
    ),
    _nic(
        "switch-mtu",
        "The switch in front of one node passes 1500 bytes only; the NICs keep their MTU.",
        "Moves the node's port to a second switch whose uplink has MTU 1500: large packets vanish in both "
        "directions without any error, small ones pass. At MTU 1500 it shows as soon as the nodes send larger packets.",
    ),
    _nic(
        "switch-mtu-one-way",
        "Large packets are lost only on their way to one node.",
        "The switch drops packets above 1500 bytes that leave by the node's port, so what the others send to the "
        "node is lost; what the node sends arrives, and small packets pass both ways. At MTU 1500 it shows as soon as "
        "the others send larger packets.",
        nft=True,
    ),
    Fault(
        "loss",
        "The switch loses 5 % of all packets of one private network.",
        "Drops each frame that enters the network's switch with a chance of 5 %, so about 10 % of pings miss their "
        "answer.",
        "network",
        default_node=None,
        needs_nft=True,
    ),
    _node(
        "peer-down",
        "One node is powered off, as seen from outside.",
        "Takes all three switch ports of the node down, and olsnodes shows the node as Inactive.",
    ),
    _nic(
        "link-down",
        "The cable of one private NIC is pulled.",
        "Takes the switch's side of the link down: the NIC is still up but has no carrier.",
    ),
    _node(
        "no-ssh",
        "One node no longer accepts the ssh key of the others.",
        "Empties the node's authorized_keys: logins end with 'Permission denied'.",
    ),
    _node(
        "slow-ssh",
        "One node lets the others log in, and then its shell hangs.",
        "Holds every new login on the node before its command starts, until this is mended.",
    ),
    Fault(
        "wrong-subnet",
        "oifcfg names a subnet that no node has.",
        "Changes the answer of `oifcfg getif` for one private network to 192.168.77.0; the NICs stay as they are.",
        "network",
        default_node=None,
    ),
    _nic(
        "names-differ",
        "One node's private NIC has another name than on the other nodes.",
        "Renames the node's eth2 to ens2f1 (eth1 to ens1f1), with its addresses and MTU kept.",
    ),
    _node(
        "icmp-filtered",
        "A firewall on one node drops pings.",
        "Drops ICMP echo requests and replies that arrive at the node on any NIC; UDP, TCP and ARP pass.",
        nft=True,
    ),
    _nic(
        "routed",
        "A router stands between one node and the others, within one subnet.",
        "Puts a router with proxy ARP, an address of its own (.254 for rac2) and an MTU of 1500 into the node's path: "
        "the TTL goes down by one, and a large packet is answered with 'Frag needed'.",
    ),
    Fault(
        "duplicate-subnet",
        "Both private networks use one and the same subnet.",
        "Moves eth2 of every node to 192.168.10.101 and up, into the subnet of eth1, and `oifcfg getif` agrees.",
        "cluster",
        default_node=None,
        default_network=None,
    ),
    Fault(
        "drop-fragments",
        "The switch loses one in 50 fragments of one private network.",
        "Drops IP fragments, and only these, with a chance of 2 %: about one in nine blocks of 8 KB is lost, whose "
        "other fragments the receiver keeps until their time is up. What fits into one packet passes.",
        "network",
        default_node=None,
        needs_nft=True,
        needs_fragments=True,
    ),
    Fault(
        "small-reassembly-memory",
        "One node has next to no memory for putting fragments together.",
        "Sets net.ipv4.ipfrag_high_thresh of the node to 4096: it drops the fragments of what is sent to it, and "
        "counts them under ReasmFails with hardly a timeout among them.",
        "node",
        default_network=None,
        needs_fragments=True,
    ),
    _node(
        "small-receive-buffer",
        "One instance has a receive buffer that holds a single block.",
        "Sets SO_RCVBUF of the sockets that blocks come to, to 4096: of several blocks at once the kernel drops all "
        "but the first, and counts them under RcvbufErrors.",
        database=True,
    ),
    _database(
        "public-interconnect",
        "The instances use the public network as their interconnect.",
        "Sends all blocks over eth0, and V$CLUSTER_INTERCONNECTS names it with IS_PUBLIC = YES; oifcfg says what it "
        "said before.",
    ),
    _node(
        "cluster-interconnects-set",
        "One instance has the parameter CLUSTER_INTERCONNECTS set.",
        "The instance uses the fixed addresses of its private NICs that the parameter names, and not its HAIPs.",
        database=True,
    ),
    Fault(
        "listener-down",
        "Nobody listens for database clients.",
        "Closes port 1521 on every node and on the SCAN; with --node on that node only, and the SCAN no longer sends "
        "clients there. Sessions that are there go on.",
        "node",
        default_node=None,
        default_network=None,
        needs_database=True,
    ),
    _database(
        "no-grants",
        "The database user RACWIRE may log in, and see nothing.",
        "Takes all grants but CREATE SESSION away: queries end with ORA-00942.",
    ),
    _database(
        "no-diagnostics-pack",
        "The database is not licensed for the Diagnostics Pack.",
        "Sets control_management_pack_access = NONE in all instances.",
    ),
    _node(
        "hung-instance",
        "One instance hangs: it still runs, and answers no query.",
        "GV$ queries hang from wherever they are asked, as does everything on the instance itself; V$ queries on the "
        "others work, and blocks go on between all.",
        database=True,
    ),
    _node(
        "instance-restart",
        "One instance restarts every three seconds.",
        "Each time it counts from zero and has a new STARTUP_TIME.",
        database=True,
    ),
    _database(
        "false-lost-12.1",
        "The database counts lost blocks that were never lost: bug 20922010 of version 12.1.0.2.",
        "Restarts the instances as 12.1.0.2.0, whose `gc blocks lost` grows by five a second while every block "
        "arrives.",
    ),
)

FAULTS: Mapping[str, Fault] = {fault.name: fault for fault in _CATALOGUE}
"""Every fault by its name, in the order in which they are listed."""


def fault_named(name: str) -> Fault:
    """The fault with this name; LabUsageError with all names when there is none."""
    try:
        return FAULTS[name]
    except KeyError:
        raise LabUsageError(
            f"There is no fault '{name}': choose one of {', '.join(FAULTS)} (`racwire lab faults` explains them)."
        ) from None


def place(fault: Fault, shape: Shape, node: str | None, network: str | int | None) -> ActiveFault:
    """The place of the fault, with defaults filled in; LabUsageError when the fault cannot be made there."""
    if node is not None and fault.scope in ("network", "cluster"):
        raise LabUsageError(f"The fault {fault.name} does not strike a single node: leave out --node.")
    if network is not None and fault.scope in ("node", "cluster"):
        raise LabUsageError(f"The fault {fault.name} does not strike a single network: leave out --network.")
    if fault.needs_jumbo and shape.mtu <= STANDARD_MTU:
        raise LabUsageError(
            f"The fault {fault.name} shows only with large packets, but this cluster has MTU {shape.mtu}: "
            "run `racwire lab down` and then `racwire lab up --mtu 9000`."
        )
    if fault.needs_fragments and shape.mtu > STANDARD_MTU:
        raise LabUsageError(
            f"The fault {fault.name} shows only with blocks that are cut into fragments, but this cluster has MTU "
            f"{shape.mtu}: run `racwire lab down` and then `racwire lab up --mtu 1500`."
        )
    if fault.needs_database and not shape.database:
        raise LabUsageError(
            f"The fault {fault.name} is one of the practice database, and this cluster was brought up without one: "
            "run `racwire lab down` and then `racwire lab up`."
        )
    return ActiveFault(
        fault.name,
        fault.default_node if node is None else node_named(node, shape),
        fault.default_network if network is None else network_named(network),
    )


def node_named(text: str, shape: Shape) -> str:
    """The node meant by `rac2` or `2`; LabUsageError when the cluster has no such node."""
    node = f"rac{text}" if text.isdigit() else text
    if node not in shape.nodes:
        raise LabUsageError(f"There is no node '{text}': the practice cluster has {', '.join(shape.nodes)}.")
    return node


def network_named(text: str | int) -> int:
    """The private network meant by `2` or `eth2`; LabUsageError when there is no such network."""
    for network in PRIVATE:
        if str(text) in (str(network.number), network.nic):
            return network.number
    raise LabUsageError(f"There is no private network '{text}': choose 1 (eth1) or 2 (eth2).")
