"""Findings of `interfaces` about the output of oifcfg and crsctl: unsupported configurations, and the state of HAIP."""

from __future__ import annotations

from collections.abc import Iterator

from checks.model.check import FailKind, InfoKind, UnknownKind, WarnKind
from checks.model.facts import Cluster, Clusterware, ConfiguredInterface, InterfaceConfiguration, Unknown
from checks.model.finding import Finding, NextStep
from checks.model.shell_command import shell
from checks.model.wording import listed
from checks.rules.observed.states import state

ALSO_PUBLIC = FailKind(
    "IC-IFACE-007",
    "A private network is also public",
    "Client traffic, backups and the interconnect share one network: blocks are lost whenever it is busy.",
    ("MOS 563566.1, cause 6", "Grid Infrastructure Installation Guide, private IP interface requirements"),
)
NODE_SPECIFIC = WarnKind(
    "IC-IFACE-008",
    "A private network is configured for some nodes only",
    "Oracle supports only global private networks: the same name and subnet on every node.",
    ("Clusterware Administration Guide, private networks and network interfaces",),
)
OCR_AND_GPNP_DIFFER = WarnKind(
    "IC-IFACE-011",
    "The OCR and the GPnP profile do not name the same networks",
    "A node starts with the networks of its GPnP profile and then reads those of the OCR; a restart may fail.",
    ("PRIF-30", "PRIF-29"),
)
HAIP_OFF = FailKind(
    "IC-IFACE-012",
    "HAIP has the target ONLINE and is not online",
    "A database or ASM instance that starts now finds no HAIP address, or uses only one of the private networks.",
    ("MOS 1210883.1",),
)
HAIP_ABSENT = InfoKind("IC-IFACE-013", "This Grid Infrastructure does not use HAIP")
NOT_UNDERSTOOD = UnknownKind(
    "IC-IFACE-014", "oifcfg printed a line that racwire does not know", "A network may be missing from this report."
)
KINDS = (ALSO_PUBLIC, NODE_SPECIFIC, OCR_AND_GPNP_DIFFER, HAIP_OFF, HAIP_ABSENT, NOT_UNDERSTOOD)


def configuration_findings(cluster: Cluster) -> Iterator[Finding]:
    """Yield findings for unsupported lines of oifcfg getif, and for differences between OCR and GPnP profile."""
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
                f"The private network {entry.name} {entry.subnet} is also configured as public.",
                subject=f"{entry.subnet} is public",
                data={"interface": entry.name, "subnet": entry.subnet},
                seen=(line,),
                expected=("A separate network for the interconnect",),
                next=[
                    NextStep(
                        "Ask whether the network is intended to be public or private.",
                        ("oifcfg getif",),
                        "the Grid owner",
                    ),
                    NextStep(
                        "If clients use it, plan a network of its own for the interconnect.",
                        ("racwire change new add-network --interface NIC",),
                        is_change=True,
                    ),
                ],
                evidence=evidence,
                network=_network_name(cluster, entry.subnet),
            )
        if entry.scope == "node-specific":
            yield NODE_SPECIFIC.finding(
                f"The private network {entry.name} {entry.subnet} is configured for some nodes only.",
                subject=f"{entry.subnet} node-specific",
                data={"interface": entry.name, "subnet": entry.subnet},
                seen=(line,),
                expected=("global",),
                next=[NextStep("Display the entries of each node.", ("oifcfg getif -node NODE",), "the Grid owner")],
                evidence=evidence,
                network=_network_name(cluster, entry.subnet),
            )
    differ = [m for m in configured.messages if m.code in ("PRIF-30", "PRIF-29")]
    if differ or configured.only_in_ocr:
        yield OCR_AND_GPNP_DIFFER.finding(
            "oifcfg warns that the OCR, the GPnP profile and the nodes may not have the same networks.",
            subject=listed([m.code for m in differ] or ["Only in OCR"]),
            data={"messages": ", ".join(m.code for m in differ), "only_in_ocr": len(configured.only_in_ocr)},
            seen=(
                *(f"{m.code}: {m.text}" for m in differ),
                *(f"Only in OCR: {e.name}  {e.subnet}" for e in configured.only_in_ocr),
            ),
            next=[
                NextStep("Compare the OCR with the GPnP profile.", ("oifcfg getif", "gpnptool get"), "the Grid owner"),
                NextStep(
                    "Store the right line again, so that both contain it, with Clusterware up on all nodes.",
                    _as_stored(configured),
                    "the Grid owner",
                    is_change=True,
                ),
            ],
            evidence=evidence,
        )
    if configured.not_understood:
        yield NOT_UNDERSTOOD.finding(
            "oifcfg getif printed lines that racwire cannot parse; a network may be missing from this report.",
            subject="unknown lines",
            seen=configured.not_understood,
            next=[NextStep("Compare the lines with the private networks in this report.", ("oifcfg getif",))],
            evidence=evidence,
        )


def roles_of(cluster: Cluster, subnet: str) -> str:
    """Return the roles of the line of a private network, as oifcfg setif takes them: `cluster_interconnect,asm`."""
    clusterware = cluster.clusterware
    if isinstance(clusterware, Clusterware) and isinstance(clusterware.configuration, InterfaceConfiguration):
        for line in clusterware.configuration.interfaces:
            if line.is_private and line.subnet.split("/")[0] == subnet.split("/")[0]:
                return _roles(line)
    return "cluster_interconnect"


def _roles(line: ConfiguredInterface) -> str:
    # The order of the manual; facts have the roles sorted.
    return ",".join(sorted(line.roles, key=lambda role: role != "cluster_interconnect"))


def _as_stored(configured: InterfaceConfiguration) -> tuple[str, ...]:
    """Return the commands that store the private lines again, with their roles."""
    lines = [line for line in (*configured.interfaces, *configured.only_in_ocr) if line.is_private]
    return tuple(
        dict.fromkeys(
            shell("oifcfg setif -global {nic}/{subnet}:{roles}", nic=line.name, subnet=line.subnet, roles=_roles(line))
            for line in lines
        )
    )


def _network_name(cluster: Cluster, subnet: str) -> str:
    if isinstance(cluster.networks, Unknown):
        return ""
    return next((n.name for n in cluster.networks if n.subnet.split("/")[0] == subnet.split("/")[0]), "")


def is_haip_unused(cluster: Cluster) -> bool:
    """Return whether Clusterware reports that HAIP is not in use."""
    facts = cluster.clusterware
    if not isinstance(facts, Clusterware) or isinstance(facts.haip, Unknown):
        return False
    return not facts.haip.present or facts.haip.target.startswith("OFFLINE")


def haip_findings(cluster: Cluster) -> Iterator[Finding]:
    """Yield the finding for HAIP on this node: not in use, or not online."""
    facts = cluster.clusterware
    if not isinstance(facts, Clusterware) or isinstance(facts.haip, Unknown):
        return
    haip, evidence = facts.haip, [(cluster.local_node, "crsctl stat res haip")]
    if is_haip_unused(cluster):
        yield HAIP_ABSENT.finding(
            "HAIP is not in use on this cluster; instances use the private networks' own addresses.",
            subject="HAIP not in use",
            data={"target": haip.target, "state": haip.state},
            seen=("no such resource" if not haip.present else f"TARGET={haip.target} STATE={haip.state}",),
            evidence=evidence,
        )
    elif not haip.state.startswith("ONLINE"):
        yield HAIP_OFF.finding(
            f"HAIP has the target ONLINE on {cluster.local_node} and is {haip.state}.",
            subject=f"{cluster.local_node}: HAIP {haip.state.lower()}",
            data={"target": haip.target, "state": haip.state},
            seen=(f"TARGET={haip.target} STATE={haip.state}",),
            expected=("STATE=ONLINE",),
            next=[
                NextStep(
                    "Display the state details of the resource.",
                    ("crsctl stat res ora.cluster_interconnect.haip -init -f",),
                    "the Grid owner",
                )
            ],
            evidence=evidence,
            nodes=[cluster.local_node],
            observed=[state("HAIP", cluster.local_node, value=haip.state)],
        )
