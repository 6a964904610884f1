"""The codes of a change before it starts and at each verification: `racwire explain` shows the meaning of each.

CH-START: an obstacle; CH-PLAN: the facts for a plan; CH-LOOK: the nodes were read or queried. An obstacle from a
check's finding has the code of that finding, which the check documents.
"""

from __future__ import annotations

from checks.change.plan import network_codes
from checks.model.check import Kind

UNREAD = Kind(
    "CH-START-001",
    "A node, or its setup, could not be read",
    "The MTU is changed on every node in one outage. A node that cannot be read would be left out, and could not join "
    "the cluster afterwards.",
    ("MOS 283684.1", "MOS 2103317.1"),
)
NO_CLUSTERWARE = Kind(
    "CH-START-003",
    "Clusterware cannot be queried",
    "Clusterware lists the nodes and the private networks; without it a plan would be a guess.",
)
NOT_UP = Kind(
    "CH-START-004",
    "Clusterware is not up on every node",
    "A problem from before the change would later look like a result of the change. If a different MTU prevents a node "
    "from joining, this change is the fix: accept the obstacle with that reason.",
    ("MOS 563566.1",),
)
MID_UPGRADE = Kind(
    "CH-START-006",
    "The cluster is mid-upgrade",
    "While nodes run different software, Clusterware allows no other change of its configuration, and a stopped node "
    "may be unable to join again. This obstacle cannot be accepted.",
)
ENGINEERED = Kind(
    "CH-START-007",
    "An engineered system",
    "The interconnect of an engineered system also carries RDS and the traffic of the storage cells: nodes, cells and "
    "switches must be changed together, by the vendor's procedure. This obstacle cannot be accepted.",
)
NETWORK_NOT_KNOWN = Kind(
    "CH-START-008",
    "The private networks are not known",
    "racwire plans only known networks: they come from Clusterware (oifcfg getif) or from the option --network.",
)
NOT_OF_ETHERNET = Kind(
    "CH-START-009",
    "The target MTU is not valid for Ethernet",
    "IPv6 does not work below 1280 bytes, and hardly any switch carries more than 9216 bytes.",
    ("RFC 8200, section 5",),
)
NOT_OF_INFINIBAND = Kind(
    "CH-START-010",
    "The target MTU is not valid for InfiniBand",
    "In datagram mode the fabric decides: 2044 or 4092 bytes, 4 bytes less than the MTU of the fabric. Connected mode "
    "carries up to 65520 bytes.",
    ("Linux kernel: Documentation/infiniband/ipoib",),
)
NIC_LIMIT = Kind(
    "CH-START-011",
    "A NIC cannot carry the target",
    "The driver reports its largest MTU. The kernel refuses a larger MTU on the NIC and on every interface above it.",
    ("ip-link(8), maxmtu",),
)
SWITCH_LIMIT = Kind(
    "CH-START-012",
    "A switch port announces a smaller frame",
    "By LLDP the port carries frames larger than the standard, but smaller than the target needs: 18 bytes for header "
    "and checksum, and 4 bytes for a VLAN tag, are added to the MTU. If the announcement is wrong, accept this "
    "obstacle: the step prove-paths tests the port.",
    ("IEEE 802.3, Maximum Frame Size TLV",),
)
CLOUD_LIMIT = Kind(
    "CH-START-013",
    "The cloud cannot carry the target",
    "A cloud limits the packet size between two machines of one network, whatever MTU the nodes set. Larger packets "
    "are lost. On Azure the limit depends on the driver of each NIC; the lowest of one network counts. racwire knows "
    "the limits from the documents of the clouds: if yours carries more, accept this obstacle with that reason. If "
    "that is wrong, the step prove-paths finds it while Clusterware is down.",
    (
        "Microsoft: Configure MTU for virtual machines in Azure (2024-07-22)",
        "Amazon EC2 User Guide: network MTU",
        "Google Cloud: VPC, Maximum transmission unit",
        "Oracle Cloud: Hanging Connection, Overview of MTU",
    ),
)
NOTHING_TO_DO = Kind("CH-START-014", "There is nothing to change", "Every private network has this MTU already.")
ONE_SUBNET = Kind(
    "CH-START-015",
    "Two private networks share a subnet",
    "The kernel sends through one of the two interfaces only, so the paths of the other cannot be proved. HAIP also "
    "needs a subnet of its own for each private network.",
    ("MOS 1210883.1",),
)
NETWORK_SERVICE_NOT_KNOWN = Kind(
    "CH-START-016",
    "The network service that configures an interface at boot is not known",
    "Without a boot configuration the MTU is lost at the next boot: the node comes back with another MTU than the "
    "rest, and cannot join. If you know how the interface is configured, accept this obstacle; the step survives-boot "
    "proves the configuration.",
)
SCRIPT = Kind(
    "CH-START-017",
    "A script sets another MTU than the network service",
    "rc.local, udev rules and similar scripts run last at a boot, and would undo the change.",
)
PUBLIC_BELOW = Kind(
    "CH-START-018",
    "The parent of a private VLAN is a public interface",
    "A VLAN cannot have a larger MTU than its parent, so the public network would be raised on this node, but not on "
    "its peers. This obstacle cannot be accepted.",
)
KIND_OF_SWITCH = Kind(
    "CH-START-020",
    "A kind of switch or hypervisor is not known",
    "`racwire explain switches` lists the known kinds. Without a kind, the plan has questions for the network team, or "
    "for the operators of the hypervisor.",
)
FILES_NOT_READ = Kind(
    "CH-START-022",
    "The MTU in the boot configuration of a node could not be read",
    "A rollback restores the old MTU in the files. If the old MTU could not be read, the rollback writes the MTU of "
    "the running interface.",
)
DHCP = Kind(
    "CH-START-023",
    "A private interface gets its address by DHCP",
    "The DHCP server can send an MTU to one node and not to another, and this MTU overrides the node's files.",
    ("RFC 2132, option 26",),
)
SHARED_FILE = Kind(
    "CH-START-024",
    "A file or connection configures a private interface and another one",
    "An MTU in this file or connection applies to both interfaces at the next boot.",
)
BOTH_FABRICS = Kind(
    "CH-START-025",
    "The private networks are partly InfiniBand and partly Ethernet",
    "A plan has one MTU for all private networks, since HAIP can move between them. No single MTU fits both fabrics.",
)
NO_MTU = Kind(
    "CH-START-026",
    "The MTU of a private network could not be read on any node",
    "racwire read no interface on this network on any node: without the old MTU no rollback is possible.",
)
NO_PORT = Kind(
    "CH-START-027",
    "A node has no interface on a private network",
    "racwire can neither change nor prove the MTU there, and the node cannot use that network.",
)
OTHERS_NOT_ASKED = Kind(
    "CH-START-030",
    "Whether a change is open on another node is not known",
    "racwire looks for journals of open changes in the same directory of the other nodes. Two changes of one cluster "
    "at the same time undo each other. If you know that none is open there, accept this obstacle.",
)

OTHERS_DIFFER = Kind(
    "CH-START-031",
    "The other nodes do not have one MTU",
    "One node is changed alone only to the MTU that all others have, on all private networks, while they run. This "
    "obstacle cannot be accepted.",
    ("MOS 563566.1, causes 5 and 12",),
)
RUNS_HERE = Kind(
    "CH-START-032",
    "racwire runs on the node that the plan stops",
    "While Clusterware is down, srvctl answers nothing on that node, so racwire could not see whether the other nodes "
    "offer the services. This obstacle cannot be accepted.",
)
ONLY_INSTANCE = Kind(
    "CH-START-033",
    "A database has no instance on another node",
    "It is down while the node is down. RAC One Node moves it without a stop: srvctl relocate database.",
    ("Real Application Clusters Administration and Deployment Guide, srvctl relocate database",),
)

VALUE_NOT_KNOWN = Kind(
    "CH-START-070",
    "A kernel setting of a node is not known",
    "A change of settings needs the present value of each node, also for the rollback. In a container the kernel shows "
    "some settings of net.core to no program.",
)
SYSCTL_FILES_NOT_READ = Kind(
    "CH-START-071",
    "A file that may set kernel settings could not be read",
    "A file that sorts after the one of racwire would set another value at the next boot. The rollback restores only "
    "what was read. Accepted, the gate kept-settings still asks for these files.",
)
TUNED_OVERRIDES = Kind(
    "CH-START-072",
    "The active tuned profile sets a planned setting",
    "tuned applies its profile after the files of sysctl. With reapply_sysctl = 0 the profile wins at each boot.",
    ("tuned-main.conf(5), reapply_sysctl", "tuned-profiles(7)"),
)

OTHER_DATABASE = Kind(
    "CH-START-080",
    "The typed name is not that of the database",
    "An experiment flashes its database back, and loses what was written meanwhile. The typed name must be the one "
    "that Clusterware, and the connected database, report. This obstacle cannot be accepted.",
)
NOT_PRIMARY = Kind(
    "CH-START-081",
    "The database of an experiment is no primary database",
    "A load that writes needs a primary database, and OPEN RESETLOGS ends the recovery of a standby database.",
)

PLAN_READ = Kind("CH-PLAN-001", "The facts for a plan were read on every node")
PLAN_NOT_READ = Kind(
    "CH-PLAN-002",
    "The facts for a plan could not be read on every node",
    "A change of the MTU is planned for all nodes together; a node that was not read would be left out.",
)
LOOKED = Kind("CH-LOOK-001", "The nodes of a change were read")
ASKED = Kind("CH-LOOK-002", "The other nodes were queried for journals of changes")

KINDS: tuple[Kind, ...] = (
    *(one for one in list(globals().values()) if isinstance(one, Kind)),
    *network_codes.KINDS,
)
"""All kinds of this file, in its order, and those of a change of the networks."""
