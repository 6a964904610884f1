"""The faults of the practice cluster: the name, the place and the effect of each."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

from racwire_lab.cluster.aggregation import LAG_FAULTS
from racwire_lab.cluster.boot_faults import BOOT_FAULTS
from racwire_lab.cluster.counted_faults import COUNTED_FAULTS
from racwire_lab.cluster.far_end import FAR_END_FAULTS
from racwire_lab.cluster.fault_kind import ActiveFault, Fault
from racwire_lab.cluster.foreign_hosts import FOREIGN_FAULTS
from racwire_lab.cluster.frame_counters import FRAME_FAULTS
from racwire_lab.cluster.host_faults import HOST_FAULTS
from racwire_lab.cluster.hypervisor_faults import HYPERVISOR_FAULTS
from racwire_lab.cluster.layer2 import LAYER2_FAULTS
from racwire_lab.cluster.live_faults import LIVE_FAULTS
from racwire_lab.cluster.login_faults import LOGIN_FAULTS
from racwire_lab.cluster.port_faults import PORT_FAULTS
from racwire_lab.cluster.port_queues import QUEUE_FAULTS
from racwire_lab.cluster.second_hosts import SECOND_FAULTS
from racwire_lab.cluster.storage_server import STORAGE_FAULTS
from racwire_lab.cluster.topology import STANDARD_MTU, Shape, network_named, node_named
from racwire_lab.lab_errors import LabUsageError
from racwire_lab.programs.cache_fusion.haip import LINGERS_S


def _nic(name: str, summary: str, effect: str, *, nft: bool = False, jumbo: bool = False) -> Fault:
    return Fault(name, summary, effect, "nic", needs_nft=nft, needs_jumbo=jumbo)


def _node(name: str, summary: str, effect: str, *, nft: bool = False, database: bool = False) -> Fault:
    return Fault(name, summary, effect, "node", default_network=None, needs_nft=nft, needs_database=database)


def _network(name: str, summary: str, effect: str, *, jumbo: bool = False, fragments: bool = False) -> Fault:
    return Fault(
        name, summary, effect, "network", default_node=None, needs_nft=True, needs_jumbo=jumbo,
        needs_fragments=fragments,
    )  # fmt: skip


def _database(name: str, summary: str, effect: str) -> Fault:
    return Fault(name, summary, effect, "cluster", default_node=None, default_network=None, needs_database=True)


_LEAST_SHARE = 0.01
_CATALOGUE = (
    _nic(
        "node-mtu",
        "One private NIC of one node has MTU 1500.",
        "Sets the MTU of the NIC to 1500 while all other NICs keep a larger MTU: the node refuses to send large "
        "packets, and large packets from the other nodes to this node are lost.",
        jumbo=True,
    ),
    _nic(
        "switch-mtu",
        "The switch in front of one node drops packets above 1500 bytes; the NICs keep their MTU.",
        "Moves the node's port to a second switch whose uplink has MTU 1500: large packets are lost in both "
        "directions without an error, small packets pass. At MTU 1500 the fault shows when the "
        "nodes send larger packets.",
    ),
    _nic(
        "switch-mtu-one-way",
        "The switch loses large packets to one node, but not from that node.",
        "The switch drops packets above 1500 bytes that leave through the node's port: large packets to the node are "
        "lost. Large packets from the node arrive, and small packets pass in both directions. At MTU 1500 "
        "the fault shows when the other nodes send larger packets.",
        nft=True,
    ),
    Fault(
        "loss",
        "The switch loses 5 % of all packets of one private network.",
        "Drops each frame that enters the network's switch with a probability of 5 %: about 10 % of pings get no "
        "answer.",
        "network",
        default_node=None,
        needs_nft=True,
        share=5.0,
    ),
    _node(
        "peer-down",
        "One node looks powered off to the other nodes.",
        "Sets all three switch ports of the node down; olsnodes shows the node as Inactive.",
    ),
    _nic(
        "link-down",
        "The cable of one private NIC is pulled.",
        "Sets the switch's end of the link down: the NIC is still up but has no carrier. Behind a hypervisor it "
        "keeps its carrier.",
    ),
    *FOREIGN_FAULTS,
    *LAYER2_FAULTS,
    *SECOND_FAULTS,
    _node(
        "evicted-node",
        "One node lost its private networks, and CSS evicted it from the cluster.",
        "Pulls the cables of all private NICs of the node while misscount is 3 s: both sides log the missing "
        "heartbeat, the node leaves the cluster with its instance, and olsnodes shows it as Inactive. After `lab mend` "
        "it joins again; the lines remain in the logs.",
        database=True,
    ),
    _node(
        "log-lines",
        "The alert logs of one node have lines about the interconnect from some hours ago.",
        "Adds missing heartbeats of 6 and 3 hours ago to the alert log of Clusterware, and an IPC send timeout to that "
        "of the instance; the network is healthy now. `lab mend` removes the lines.",
    ),
    _node(
        "stale-arp-after-move",
        "The other nodes keep the MAC address of a NIC that a HAIP of one node has left.",
        "When a HAIP of the node moves to another NIC, the node announces nothing by ARP, and the others keep the old "
        f"MAC address for {LINGERS_S:g} s: what they send to that HAIP reaches no node. To see it, break link-down "
        "too, and wait for the delay of HAIP (`racwire lab up --haip-after`).",
        database=True,
    ),
    _database(
        "failover-slow",
        "HAIPs leave a NIC without a link only after more than misscount.",
        "Sets the delay of HAIP to 1.5 times misscount. To see it, break link-down too.",
    ),
    _database(
        "haip-stays",
        "HAIPs stay on a NIC without a link.",
        "Sets the delay of HAIP to a day. To see it, break link-down too.",
    ),
    *LIVE_FAULTS,
    *BOOT_FAULTS,
    *HOST_FAULTS,
    *FRAME_FAULTS,
    *STORAGE_FAULTS,
    *LOGIN_FAULTS,
    *FAR_END_FAULTS,
    *QUEUE_FAULTS,
    *PORT_FAULTS,
    *COUNTED_FAULTS,
    *HYPERVISOR_FAULTS,
    _node(
        "slow-clusterware",
        "The tools of Clusterware on one node answer after seconds.",
        "Each of crsctl, olsnodes, oifcfg and srvctl waits 3 s before it answers, as while the stack starts.",
    ),
    Fault(
        "wrong-subnet",
        "oifcfg lists a subnet that no node has.",
        "`oifcfg getif` reports 192.168.77.0 for one private network; the NICs keep their addresses.",
        "network",
        default_node=None,
    ),
    _nic(
        "names-differ",
        "One node's private NIC has another name than on the other nodes.",
        "Renames the node's eth2 to ens2f1 (eth1 to ens1f1), and keeps its addresses and its MTU.",
    ),
    _node(
        "icmp-filtered",
        "A firewall on one node drops pings.",
        "Drops ICMP echo requests and replies that arrive at the node on any NIC; UDP, TCP and ARP pass.",
        nft=True,
    ),
    _nic(
        "udp-filtered",
        "A firewall on one node drops UDP on one private NIC; pings pass.",
        "Drops every UDP datagram that arrives at the NIC, as a rule set that accepts ping and rejects the rest.",
        nft=True,
    ),
    _nic(
        "routed",
        "A router is in the path between one node and the other nodes, within one subnet.",
        "Puts a router with proxy ARP, an address of its own (.254 for rac2) and an MTU of 1500 into the node's path: "
        "the router reduces the TTL by one, and answers a large packet with 'Frag needed'.",
    ),
    _node(
        "zeroconf",
        "The public NIC of one node has an address in the range of HAIP.",
        "Adds an address of 169.254.0.0/16 to eth0, as zeroconf does, and a management controller to its USB NIC: its "
        "/24 contains the first HAIP of the next node, so the node sends the packets for that HAIP over the public "
        "network.",
    ),
    Fault(
        "duplicate-subnet",
        "Both private networks use the same subnet.",
        "Changes the addresses of eth2 to 192.168.10.101 and up, in the subnet of eth1; `oifcfg getif` agrees.",
        "cluster",
        default_node=None,
        default_network=None,
    ),
    Fault(
        "drop-fragments",
        "The switch loses one in 50 fragments of one private network.",
        "Drops IP fragments, and only fragments, with a probability of 2 %: about one in nine blocks of 8 KB is lost. "
        "The receiver keeps the other fragments of a lost block until the reassembly times out. Unfragmented packets "
        "pass.",
        "network",
        default_node=None,
        needs_nft=True,
        needs_fragments=True,
    ),
    _network(
        "fragments-filtered",
        "The switch drops every IP fragment of one private network.",
        "Drops IP fragments, and only fragments, as a filter without reassembly does: each block of 8 KB is lost, and "
        "pings that fit one packet pass.",
        fragments=True,
    ),
    *LAG_FAULTS,
    _network(
        "udp-policed",
        "The switch limits the rate of UDP on one private network.",
        "Drops UDP above 50 KB/s on the whole network, after a burst of 55 KB: blocks and datagrams in a row are lost, "
        "single ones pass. Pings pass.",
    ),
    _network(
        "icmp-policed",
        "The switch limits the rate of ICMP on one private network.",
        "Drops ICMP packets above 20 a second, after a burst of 5: most pings of a burst are lost. UDP passes.",
    ),
    _network(
        "icmp-size-filtered",
        "The switch drops large pings of one private network; UDP passes at every size.",
        "Drops ICMP packets above 1500 bytes, as some filters against floods do: full-size pings vanish without an "
        "error, and blocks of 8 KB arrive.",
        jumbo=True,
    ),
    Fault(
        "small-reassembly-memory",
        "One node has almost no memory for the reassembly of fragments.",
        "Sets net.ipv4.ipfrag_high_thresh of the node to 4096: the node drops the fragments that it receives, and "
        "counts ReasmFails with almost no ReasmTimeout.",
        "node",
        default_network=None,
        needs_fragments=True,
    ),
    _node(
        "small-receive-buffer",
        "One instance has a receive buffer that holds a single block.",
        "Sets SO_RCVBUF of the sockets that receive blocks to 4096: when several blocks arrive at once, the kernel "
        "drops all but the first, and counts them under RcvbufErrors.",
        database=True,
    ),
    _database(
        "public-interconnect",
        "The instances use the public network as their interconnect.",
        "Sends all blocks over eth0, which V$CLUSTER_INTERCONNECTS lists with IS_PUBLIC = YES; oifcfg does not change.",
    ),
    _node(
        "cluster-interconnects-set",
        "One instance has the parameter CLUSTER_INTERCONNECTS set.",
        "The parameter names the fixed addresses of the private NICs; the instance uses them instead of its HAIPs.",
        database=True,
    ),
    Fault(
        "listener-down",
        "No listener accepts database clients.",
        "Closes port 1521 on every node and on the SCAN. With --node, closes it on that node only, and the SCAN sends "
        "no clients there. Existing sessions continue.",
        "node",
        default_node=None,
        default_network=None,
        needs_database=True,
    ),
    _database(
        "no-grants",
        "The database user RACWIRE can log in, but cannot read any view.",
        "Revokes all grants except CREATE SESSION: queries fail with ORA-00942.",
    ),
    _database(
        "no-ic-clients",
        "The view of the users of the interconnect is not there.",
        "Drops SYS.RACWIRE_IC_CLIENTS, which a DBA creates: its query fails with ORA-00942.",
    ),
    _database(
        "no-diagnostics-pack",
        "The database is not licensed for the Diagnostics Pack.",
        "Sets control_management_pack_access = NONE in all instances.",
    ),
    _node(
        "hung-instance",
        "One instance hangs: it runs but answers no query.",
        "GV$ queries hang on every instance, and all queries hang on the faulty instance. V$ queries on the other "
        "instances work, and all instances still exchange blocks.",
        database=True,
    ),
    _node(
        "instance-down",
        "One instance is down; its node and the other instances run.",
        "Stops the instance as `srvctl stop instance` does: its process ends, its listener no longer serves it, and "
        "V$ACTIVE_INSTANCES of the other instances no longer lists it.",
        database=True,
    ),
    _node(
        "no-parallel-servers",
        "One instance has no parallel query processes.",
        "Sets parallel_max_servers = 0 on the instance: GV$ queries on the other instances have no row of that "
        "instance, and GV$ queries there have its own rows only. No error is raised.",
        database=True,
    ),
    _node(
        "instance-restart",
        "One instance restarts every three seconds.",
        "Each restart sets the counters of the instance to zero, and gives it a new STARTUP_TIME.",
        database=True,
    ),
    _database(
        "false-lost-12.1",
        "The database counts lost blocks although no block is lost: bug 20922010 of version 12.1.0.2.",
        "Restarts the instances as 12.1.0.2.0, whose `gc blocks lost` grows by five a second although every "
        "block arrives.",
    ),
)

FAULTS: Mapping[str, Fault] = {fault.name: fault for fault in _CATALOGUE}
"""All faults by name, in the order of `racwire lab faults`."""


def fault_named(name: str) -> Fault:
    """Return the fault with this name. Raises LabUsageError, which lists all names, when there is none."""
    try:
        return FAULTS[name]
    except KeyError:
        close = get_close_matches(name, FAULTS, 1)
        hint = f"did you mean {close[0]}?" if close else f"choose one of {', '.join(FAULTS)}."
        raise LabUsageError(f"There is no fault '{name}'; {hint} `racwire lab faults` explains them.") from None


def place(
    fault: Fault, shape: Shape, node: str | None, network: str | int | None, share: float | None = None
) -> ActiveFault:
    """Return the fault at its place, with default values for a missing node, network or share.

    Raises LabUsageError when the fault cannot be made at this place or in this cluster.
    """
    if share is not None and fault.share is None:
        raise LabUsageError(f"The fault {fault.name} drops no share of the packets: leave out --share.")
    if share is not None and not _LEAST_SHARE <= share <= 100:
        raise LabUsageError(f"A share is {_LEAST_SHARE:g} to 100 percent, not {share:g}: choose with --share.")
    if node is not None and fault.scope in ("network", "cluster"):
        raise LabUsageError(f"The fault {fault.name} affects more than one node: leave out --node.")
    if network is not None and fault.scope in ("node", "cluster"):
        raise LabUsageError(f"The fault {fault.name} does not belong to one private network: leave out --network.")
    if fault.needs_jumbo and shape.mtu <= STANDARD_MTU:
        raise LabUsageError(
            f"The fault {fault.name} needs large packets, but this cluster has MTU {shape.mtu}: "
            "run `racwire lab down` and then `racwire lab up --mtu 9000`."
        )
    if fault.needs_fragments and shape.mtu > STANDARD_MTU:
        raise LabUsageError(
            f"The fault {fault.name} needs blocks that are cut into fragments, but this cluster has MTU "
            f"{shape.mtu}: run `racwire lab down` and then `racwire lab up --mtu 1500`."
        )
    if fault.needs_database and not shape.database:
        raise LabUsageError(
            f"The fault {fault.name} needs the practice database, but this cluster has no database: "
            "run `racwire lab down` and then `racwire lab up`."
        )
    if fault.needs_storage and not shape.has_storage:
        raise LabUsageError(
            f"The fault {fault.name} needs a storage server, but this cluster has none: "
            "run `racwire lab down` and then `racwire lab up --storage`."
        )
    if fault.needs_rate and not shape.rate_mbps:
        raise LabUsageError(
            f"The fault {fault.name} needs switch ports with a rate, but those of this cluster have none: "
            "run `racwire lab down` and then `racwire lab up --rate 1g`."
        )
    at = fault.default_node if node is None else node_named(node, shape)
    if fault.needs_hypervisor and at not in shape.hypervisor:
        hint = "run `racwire lab down` and then `racwire lab up --hypervisor`"
        if shape.hypervisor:
            hint = f"choose --node {shape.hypervisor[0]}"
        raise LabUsageError(f"The fault {fault.name} needs a node behind a hypervisor, which {at} is not: {hint}.")
    number = fault.default_network if network is None else network_named(network, shape)
    return ActiveFault(fault.name, at, number, fault.share if share is None else share)
