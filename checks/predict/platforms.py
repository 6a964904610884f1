"""Pages of `racwire explain` about clouds, an engineered system and virtual NICs: statements, each with its source.

A statement without a public source has no place here.
"""

from __future__ import annotations

from dataclasses import dataclass

_AZURE_MTU = "Microsoft, Configure MTU for virtual machines in Azure, 2024-07-22"
_AZURE_FAQ = "Microsoft, Azure Virtual Network FAQ"
_NETVSC = "Linux documentation, Hyper-V network driver (netvsc)"
_EC2_MTU = "Amazon EC2 User Guide, network_mtu"
_GOOGLE_MTU = "Google Cloud, VPC, Maximum transmission unit"
_OCI_FRAGMENTS = "Oracle A-Team, Handling UDP fragmented packet in OCI"
_VMXNET3 = "Linux, drivers/net/vmxnet3"
_EXADATA = "Exadata Database Service on Dedicated Infrastructure, network interfaces"

MTU, HASHING, MULTICAST, OFFLOADS, FRAGMENTS, INTERFACES = (
    "MTU", "Hashing", "Multicast", "Offloads", "Fragments", "Interfaces",
)  # fmt: skip


@dataclass(frozen=True)
class PlatformFact:
    """One thing that is known of a platform."""

    about: str
    text: str
    source: str


@dataclass(frozen=True)
class Platform:
    """A page about a platform."""

    name: str
    title: str
    aliases: tuple[str, ...]
    """Other names by which people ask, in lower case."""
    statements: tuple[PlatformFact, ...]


def platform_named(name: str) -> Platform | None:
    """Return the platform with this name or alias, in any case."""
    wanted = name.lower()
    return next((one for one in PLATFORMS if wanted in (one.name, *one.aliases)), None)


PLATFORMS = (
    Platform(
        "oci",
        "Oracle Cloud Infrastructure",
        ("oracle cloud", "oracle-cloud"),
        (
            PlatformFact(MTU, "A NIC starts with an MTU of 9000. The internet gateway carries 1500.", _OCI_FRAGMENTS),
            PlatformFact(
                FRAGMENTS,
                "A security list or group that allows certain ports drops the fragments after the first: they have no "
                "UDP header. Allow the protocol with its whole range of ports between the nodes.",
                _OCI_FRAGMENTS,
            ),
            PlatformFact(
                MULTICAST,
                "A VCN carries neither multicast nor broadcast.",
                "Oracle, Virtual Cloud Network FAQ",
            ),
        ),
    ),
    Platform(
        "aws",
        "Amazon EC2",
        ("amazon", "amazon ec2", "ec2"),
        (
            PlatformFact(
                MTU,
                "A VPC carries 9001 bytes between instances of the current generation. The limit is 1500 over an "
                "internet gateway, over VPN and between regions, 8500 over peering between regions, and 1300 to or in "
                "an Outpost or a Wavelength Zone.",
                _EC2_MTU,
            ),
            PlatformFact(
                HASHING,
                "The driver ena hashes fragments by their addresses, without ports.",
                "Linux, drivers/net/ethernet/amazon/ena/ena_com.c",
            ),
            PlatformFact(
                MULTICAST,
                "A transit gateway routes multicast between the subnets of its multicast domain, to NICs that are "
                "members of the group.",
                "Amazon VPC, Multicast in AWS Transit Gateway",
            ),
        ),
    ),
    Platform(
        "azure",
        "Microsoft Azure",
        ("microsoft", "microsoft azure"),
        (
            PlatformFact(
                MTU,
                "A NIC starts with an MTU of 1500. Between Linux machines of one virtual network 3900 bytes pass with "
                "Mellanox Cx3 to Cx5 (drivers mlx4_core, mlx5_core), and 9000 with the Microsoft Azure Network Adapter "
                "(mana), a preview in July 2024. Peerings and gateways may carry less.",
                _AZURE_MTU,
            ),
            PlatformFact(
                HASHING,
                "hv_netvsc hashes what it sends by addresses and ports. With the ports, Azure loses many fragments of "
                "UDP: hash by addresses on each node that sends them (`ethtool -N ETH rx-flow-hash udp4 sd`).",
                _NETVSC,
            ),
            PlatformFact(MULTICAST, "A virtual network blocks multicast, broadcast, IP in IP and GRE.", _AZURE_FAQ),
            PlatformFact(
                INTERFACES,
                "With Accelerated Networking a virtual function below the NIC of hv_netvsc carries the packets. "
                "Addresses and routes belong to the NIC, not to the function.",
                _NETVSC,
            ),
        ),
    ),
    Platform(
        "gcp",
        "Google Cloud",
        ("google", "google cloud", "gce"),
        (
            PlatformFact(
                MTU,
                "A VPC network starts with an MTU of 1460, and can be set from 1300 to 8896. Each NIC needs the MTU of "
                "its network. Machines that run take a new MTU after they are stopped and started.",
                _GOOGLE_MTU,
            ),
            PlatformFact(
                MULTICAST,
                "A VPC network carries neither multicast nor broadcast.",
                "Google Cloud, VPC networks, Specifications",
            ),
        ),
    ),
    Platform(
        "exadata",
        "Oracle Exadata",
        ("engineered system", "oracle engineered system"),
        (
            PlatformFact(
                INTERFACES,
                "re0 and re1 carry the interconnect and the traffic of the storage servers, on RoCE.",
                _EXADATA,
            ),
            PlatformFact(
                "Cache Fusion",
                "With Exafusion the processes of a database read and send messages of RAC without the kernel's network "
                "stack.",
                "Exadata Storage Server Software Guide, Exafusion Direct-to-Wire Protocol",
            ),
            PlatformFact(
                MTU,
                "Nodes, storage servers and switches are changed together, by the vendor's procedure. racwire plans no "
                "change of the MTU here (CH-START-007).",
                "MOS 283684.1",
            ),
        ),
    ),
    Platform(
        "vmxnet3",
        "VMware vmxnet3",
        (),
        (
            PlatformFact(
                MTU,
                "The driver takes up to 9000 bytes, and 9190 from version 6 of the virtual NIC on. The virtual switch, "
                "its uplinks and the switches need the MTU, too.",
                f"{_VMXNET3}; VMware, Performance Best Practices, networking",
            ),
            PlatformFact(
                HASHING,
                "The driver hashes UDP by addresses, unless ports are set (`ethtool -N ETH rx-flow-hash udp4 sdfn`, "
                "from version 4 of the virtual NIC on).",
                f"{_VMXNET3}, VMXNET3_RSS_FIELDS_DEFAULT",
            ),
            PlatformFact(
                OFFLOADS,
                "ESXi joins segments of TCP before the guest sees them (LRO), by default.",
                "VMware, Performance Best Practices, networking",
            ),
            PlatformFact(
                "Buffers",
                "A guest whose receive buffers are full, or whose CPUs wait, loses packets at the virtual switch: "
                "esxtop shows them as %DRPRX. Compare with `racwire explain vmware`.",
                "Broadcom KB 312565",
            ),
        ),
    ),
    Platform(
        "hv_netvsc",
        "Microsoft Hyper-V, hv_netvsc",
        ("netvsc", "hyper-v nic"),
        (
            PlatformFact(
                HASHING,
                "The driver spreads TCP and UDP over its queues by addresses and ports. `ethtool -N` changes what it "
                "sends, not what it receives. On Azure many fragments of UDP are lost with ports in the hash: `racwire "
                "explain azure`.",
                _NETVSC,
            ),
            PlatformFact(
                OFFLOADS,
                "The virtual switch joins segments of TCP (LRO or RSC), by default on Windows Server 2019 and later.",
                _NETVSC,
            ),
            PlatformFact(
                "Buffers",
                "Packets arrive in sections of a receive area, which `ethtool -G` changes as the receive ring.",
                _NETVSC,
            ),
            PlatformFact(
                INTERFACES,
                "With SR-IOV a virtual function with the same MAC address carries the packets while it is up.",
                _NETVSC,
            ),
        ),
    ),
    Platform(
        "kvm",
        "KVM, virtio_net",
        ("virtio", "virtio_net", "virtio-net", "qemu", "libvirt"),
        (
            PlatformFact(
                MTU,
                "The host can state an MTU for a virtio NIC, and the guest allows no larger one. Tap, bridge and "
                "uplink each have an MTU of their own.",
                "Linux, drivers/net/virtio_net.c (VIRTIO_NET_F_MTU); libvirt, Domain XML format: MTU configuration",
            ),
            PlatformFact(
                MULTICAST,
                "A bridge of the host sends no IGMP queries by default (mcast_querier 0). Where it snoops and the "
                "network has no other querier, it forgets who listens.",
                "Linux, include/uapi/linux/if_link.h, IFLA_BR_MCAST_QUERIER; RFC 4541",
            ),
        ),
    ),
)
"""The platforms in the order of the list."""
