"""Pages of `racwire explain` about jumbo frames, fragments, Oracle Net's SDU, and prioritisation in the switch.

Figures are calculated from the same formulas as predictions.
"""

from __future__ import annotations

from dataclasses import dataclass

from checks.model.packet_sizes import fragments_of, wire_bytes_of
from checks.predict.prioritised_flows import FIRST_PACKETS, PAUSE_S

_BLOCK, _STANDARD, _JUMBO = 8192, 1500, 9000


@dataclass(frozen=True)
class ExplainedTopic:
    """A page."""

    name: str
    title: str
    paragraphs: tuple[str, ...]
    commands: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


def _share_of_headers() -> str:
    before, after = (wire_bytes_of(_BLOCK, mtu) for mtu in (_STANDARD, _JUMBO))
    return (
        f"A block of 8 KB has {before:,} bytes on the wire at MTU {_STANDARD} and {after:,} at MTU {_JUMBO}, "
        "with the headers of Oracle, UDP, IP and Ethernet, preambles and gaps: "
        f"{100 * (1 - after / before):.1f} % of the bytes less, but {fragments_of(_BLOCK, _STANDARD)} packets become "
        f"{fragments_of(_BLOCK, _JUMBO)}."
    )


_SIZES = "; ".join(
    f"{size // 1024} KB: {fragments_of(size, _STANDARD)} and {fragments_of(size, _JUMBO)}"
    for size in (2048, 4096, 8192, 16_384, 32_768)
)

TOPICS = (
    ExplainedTopic(
        "jumbo",
        "What jumbo frames change for Cache Fusion",
        (
            "Instances send blocks in UDP datagrams. A datagram larger than the MTU is sent in fragments, and the "
            "receiving kernel puts them together. If one fragment is lost, the block is lost.",
            _share_of_headers(),
            "The gain is CPU time in soft interrupts, fewer lost blocks where packets are lost at random, and smaller "
            "bursts of packets. It is not bandwidth. A load that hardly uses the interconnect gains nothing: `racwire "
            "predict` calculates the gain for this cluster.",
            "Jumbo frames are no IEEE standard: every NIC, bond member, VLAN, bridge and switch port on every path "
            "must agree. A port that does not agree drops large packets without an error. Change the MTU with all "
            "nodes down: `racwire change`.",
            "Published tests: one at low load found no difference; the same author's test under stress found fewer "
            "packets and a lower load average at the same number of transactions. Another one states 65 % more "
            "throughput; its own figures (923 MB and 1.28 GB) are 42 %, on a virtual machine whose limit was the CPU.",
        ),
        ("racwire check mtu-consistency df-ping", "racwire predict --mtu 9000", "racwire change new --to 9000"),
        ("MOS 341788.1", "RFC 791, fragmentation", "IEEE 802.3"),
    ),
    ExplainedTopic(
        "frames",
        "How many packets a block needs",
        (
            "A fragment carries the MTU less 20 bytes of IP header, rounded down to a multiple of 8: 1,480 bytes at "
            "MTU 1500 and 8,976 at 9000. A datagram has the block, the header of Oracle (about 136 bytes) and 8 bytes "
            "of UDP header.",
            f"Packets for a block at MTU 1500 and 9000: {_SIZES}.",
            "A multiblock read is no larger datagram: each of its blocks is a datagram of its own. "
            "db_file_multiblock_read_count = 128 makes a burst of 768 packets at MTU 1500 and of 128 at 9000. Messages "
            "of parallel execution have up to 16 KB (parallel_execution_message_size) and need two packets at 9000.",
        ),
        ("racwire predict --mtu 9000 --multiblock 128",),
        ("RFC 791", "Database Reference, db_file_multiblock_read_count"),
    ),
    ExplainedTopic(
        "sdu",
        "SDU and TDU do not belong to the interconnect",
        (
            "The session data unit (SDU) is the buffer size of Oracle Net, between clients and listeners, and of Data "
            "Guard's redo transport, over TCP. Cache Fusion does not use Oracle Net: instances exchange blocks over "
            "UDP (or RDS), and SDU has no effect on them.",
            "To use jumbo frames on the interconnect, set the MTU of the private interfaces. There is nothing to set "
            "in sqlnet.ora, tnsnames.ora or listener.ora. TDU is obsolete.",
        ),
        (),
        ("Database Net Services Administrator's Guide, session data unit",),
    ),
    ExplainedTopic(
        "dpp",
        "Dynamic packet prioritisation and approximate fair dropping (Cisco)",
        (
            "Dynamic packet prioritisation (DPP) sends the first packets of each flow with priority "
            f"(max-num-pkts, {FIRST_PACKETS} in Cisco's paper). A flow is addresses and ports of both ends; after a "
            f"pause of {1000 * PAUSE_S:g} ms a new flow starts. "
            "So short transactions overtake large copies on a congested port.",
            "The LMS processes of a busy cluster hardly ever pause for 5 ms on a pair of ports: DPP takes their blocks "
            "for one large flow, and prioritises none. 20 packets are three blocks at MTU 1500 and 20 at 9000. "
            "`racwire predict` applies the rule to the messages of this cluster.",
            "Approximate fair dropping (AFD) drops packets of large flows early, so that TCP slows down. Cache Fusion "
            "is UDP and does not slow down: a dropped fragment is a lost block. Keep the interconnect out of AFD's "
            "class.",
            "The policy in the paper has `mtu 1500` in its class, although the text says 9000. Where network-qos "
            "decides the MTU, this policy makes a black hole for jumbo frames when pasted as printed: write 9216.",
            "In ACI the same setting is a policy of the fabric, not a line on a leaf; `racwire explain aci` has the "
            "MTU of the fabric.",
            "Its tables: about 30 % less time for small and medium flows, and no loss for large ones, at a port filled "
            "with 10 Gbit/s. The counts and sizes printed there fill about a tenth of that port.",
        ),
        (
            "racwire explain nexus-9000",
            "racwire explain aci",
            "racwire predict --mtu 9000",
            "racwire measure mix --priorities",
        ),
        ("Cisco, Enhancing Database Performance with Cisco Nexus 9000 and ACI, 2017",),
    ),
)
"""The topics in the order of the list."""
