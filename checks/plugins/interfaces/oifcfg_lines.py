"""What oifcfg and crsctl say that Oracle does not support or that is not as it is meant: rules of `interfaces`."""

from __future__ import annotations

from collections.abc import Iterator

from checks.model.check import Kind
from checks.model.facts import Cluster, Clusterware, Unknown
from checks.model.finding import Finding, Remedy, Status
from checks.model.wording import listed

ALSO_PUBLIC = Kind(
    "IC-IFACE-007",
    "A private network is also public",
    "Client traffic, backups and the interconnect share the wire: blocks are lost whenever it is busy.",
    ("MOS 563566.1, cause 6", "Grid Infrastructure Installation Guide, private IP interface requirements"),
)
NODE_SPECIFIC = Kind(
    "IC-IFACE-008",
    "A private network is configured for some nodes only",
    "Oracle supports private networks only as global ones: same name and subnet on every node.",
    ("Clusterware Administration Guide, private networks and network interfaces",),
)
OCR_AND_GPNP_DIFFER = Kind(
    "IC-IFACE-011",
    "OCR and GPnP profile do not name the same networks",
    "A node starts with what its GPnP profile says and then meets what the OCR says; a restart may fail.",
    ("PRIF-30", "PRIF-29"),
)
HAIP_OFF = Kind(
    "IC-IFACE-012",
    "HAIP is meant to be online and is not",
    "Databases and ASM that start now find no interconnect address, or use only one of the private networks.",
    ("MOS 1210883.1",),
)
HAIP_ABSENT = Kind("IC-IFACE-013", "This Grid Infrastructure does not use HAIP")
NOT_UNDERSTOOD = Kind(
    "IC-IFACE-014", "oifcfg printed a line that racwire does not know", "A network may be missing from this report."
)


def configuration_findings(cluster: Cluster) -> Iterator[Finding]:
    """What the lines of oifcfg getif say that is not supported, or not the same in OCR and GPnP profile."""
    facts = cluster.clusterware
    if not isinstance(facts, Clusterware) or isinstance(facts.configuration, Unknown):
        return
    evidence = [(cluster.local_node, "oifcfg getif")]
    configured = facts.configuration
    public = [e for e in configured.interfaces if e.is_public]
    for entry in (e for e in configured.interfaces if e.is_private):
        clash = entry.is_public or any(p.subnet == entry.subnet for p in public)
        line = f"oifcfg getif: {entry.name}  {entry.subnet}  {entry.scope}  {','.join(entry.roles)}"
        if clash:
            yield ALSO_PUBLIC.finding(
                Status.FAIL,
                f"The private network {entry.name} {entry.subnet} is configured as public too.",
                subject=f"{entry.subnet} is public",
                data={"interface": entry.name, "subnet": entry.subnet},
                seen=(line,),
                expected=("A network of its own for the interconnect",),
                next=[Remedy("Ask which of the two it is meant to be.", ("oifcfg getif",), "the Grid owner")],
                evidence=evidence,
                network=_network_name(cluster, entry.subnet),
            )
        if entry.scope == "node-specific":
            yield NODE_SPECIFIC.finding(
                Status.WARN,
                f"The private network {entry.name} {entry.subnet} is configured for some nodes only.",
                subject=f"{entry.subnet} node-specific",
                data={"interface": entry.name, "subnet": entry.subnet},
                seen=(line,),
                expected=("global",),
                next=[Remedy("See the entries of each node.", ("oifcfg getif -node NODE",), "the Grid owner")],
                evidence=evidence,
                network=_network_name(cluster, entry.subnet),
            )
    differ = [m for m in configured.messages if m.code in ("PRIF-30", "PRIF-29")]
    if differ or configured.only_in_ocr:
        yield OCR_AND_GPNP_DIFFER.finding(
            Status.WARN,
            "oifcfg warns that OCR, GPnP profile and the nodes may not name the same networks.",
            subject=listed([m.code for m in differ] or ["Only in OCR"]),
            data={"messages": ", ".join(m.code for m in differ), "only_in_ocr": len(configured.only_in_ocr)},
            seen=(
                *(f"{m.code}: {m.text}" for m in differ),
                *(f"Only in OCR: {e.name}  {e.subnet}" for e in configured.only_in_ocr),
            ),
            next=[
                Remedy("Compare the two.", ("oifcfg getif", "gpnptool get"), "the Grid owner"),
                Remedy(
                    "Store the right line again, so that both have it, with Clusterware up on all nodes.",
                    ("oifcfg setif -global IF_NAME/SUBNET:cluster_interconnect",),
                    "the Grid owner",
                    is_change=True,
                ),
            ],
            evidence=evidence,
        )
    if configured.not_understood:
        yield NOT_UNDERSTOOD.finding(
            Status.UNKNOWN,
            "oifcfg getif printed lines that racwire does not understand; a network may be missing here.",
            subject="unknown lines",
            seen=configured.not_understood,
            next=[Remedy("Read the lines, and compare them with the networks named here.", ("oifcfg getif",))],
            evidence=evidence,
        )


def _network_name(cluster: Cluster, subnet: str) -> str:
    if isinstance(cluster.networks, Unknown):
        return ""
    return next((n.name for n in cluster.networks if n.subnet.split("/")[0] == subnet.split("/")[0]), "")


def haip_findings(cluster: Cluster) -> Iterator[Finding]:
    """Whether HAIP is as it is meant to be on this node."""
    facts = cluster.clusterware
    if not isinstance(facts, Clusterware) or isinstance(facts.haip, Unknown):
        return
    haip, evidence = facts.haip, [(cluster.local_node, "crsctl stat res haip")]
    if not haip.present or haip.target.startswith("OFFLINE"):
        yield HAIP_ABSENT.finding(
            Status.INFO,
            "HAIP is not in use here; the private networks are used by their own addresses.",
            subject="HAIP not in use",
            data={"target": haip.target, "state": haip.state},
            seen=("no such resource" if not haip.present else f"TARGET={haip.target} STATE={haip.state}",),
            evidence=evidence,
        )
    elif not haip.state.startswith("ONLINE"):
        yield HAIP_OFF.finding(
            Status.FAIL,
            f"HAIP is meant to be online on {cluster.local_node} and is {haip.state}.",
            subject=f"{cluster.local_node}: HAIP {haip.state.lower()}",
            data={"target": haip.target, "state": haip.state},
            seen=(f"TARGET={haip.target} STATE={haip.state}",),
            expected=("STATE=ONLINE",),
            next=[Remedy("See why.", ("crsctl stat res ora.cluster_interconnect.haip -init -f",), "the Grid owner")],
            evidence=evidence,
            nodes=[cluster.local_node],
        )
