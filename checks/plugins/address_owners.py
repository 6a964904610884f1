"""Does a second host answer for a private address, and are two private networks one broadcast domain?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.model.check import FailKind, PassKind, SkippedKind, WarnKind, check
from checks.model.condition import ConditionKind
from checks.model.effect import Effect
from checks.model.facts import AddressProbe, AddressProbes, Cluster, NotGathered, Port, PrivateNetwork, Unknown
from checks.model.finding import Finding, NextStep, Status
from checks.model.shell_command import for_each, shell, switch
from checks.model.traffic import Traffic
from checks.model.wording import counted, listed
from checks.plugins.shared.grouping import named, some
from checks.plugins.shared.switch_steps import dotted, on_switches
from checks.rules.arp_places import HeardNic, Places, places
from checks.rules.local_owners import also_has, owner_commands, owner_user
from checks.rules.observed.states import kind_of_address, read_at, state

ONE_OWNER = PassKind("IC-OWNER-001", "No second host answers for the private addresses")
SECOND = FailKind(
    "IC-OWNER-002",
    "A second host answers for a private address",
    "Two hosts have the address. Each neighbour sends to the one whose answer it received last, so packets for the "
    "node reach another host, in turn.",
    ("RFC 5227",),
)
NOT_PROBED = SkippedKind("IC-OWNER-003", "Second owners of private addresses were not looked for")
APART = PassKind("IC-OWNER-004", "The NICs of each private network answer on their own network")
_ONE_EACH = "Grid Infrastructure Installation Guide, private IP interface requirements"
JOINED = WarnKind(  # nothing is lost: the two are one failure domain
    "IC-OWNER-005",
    "Two private networks are one broadcast domain",
    "A cable, a VLAN or a bridge joins them. A kernel answers for an address on each of its NICs (arp_ignore 0), so "
    "packets for one NIC arrive on another: rp_filter may drop them, and one broken switch can cut both networks. "
    "Exchanging cables does not separate them.",
    (_ONE_EACH, "Linux kernel documentation, ip-sysctl, arp_ignore"),
)
MISPLACED = FailKind(
    "IC-OWNER-006",
    "A private NIC of a node is on the network of another one",
    "Its cable is in a port of the other network, or its port is in the other VLAN. The node is cut off from the NIC's "
    "own network, and answers on the wrong one.",
    (_ONE_EACH,),
)
ASTRAY = WarnKind(
    "IC-OWNER-007",
    "A private NIC of a node is on the network of another one, and perhaps not on its own",
    "Its cable or VLAN is wrong, or the two networks are joined: no NIC answered on its own network, so the probes do "
    "not tell which.",
    (_ONE_EACH,),
)
SECOND_OF_HAIP = FailKind(
    "IC-HAIP-004",
    "A second host answers for a HAIP address",
    "Instances send their blocks to HAIP addresses. Blocks for the node reach another host, in turn.",
    ("RFC 5227", "MOS 1210883.1"),
)


@check(
    "address-owners",
    question="Does a second host answer for a private address?",
    needs=("nodes", "networks"),
    uses=("owners",),
    about=(ConditionKind.PATH,),
    kinds=(ONE_OWNER, SECOND, SECOND_OF_HAIP, NOT_PROBED, APART, JOINED, MISPLACED, ASTRAY),
)
def address_owners(cluster: Cluster) -> Iterator[Finding]:
    """Sends ARP probes for each private and HAIP address of the cluster, from this node, and compares who answers.

    A probe (RFC 5227) has the sender address 0.0.0.0 and changes no neighbour table; racwire sends two for each address
    and no announcement. An answer from another NIC of the same node is no second owner: probes from the NIC of one
    network for the addresses of another one show whether the two are one broadcast domain. An address whose owner does
    not answer is not judged. The probes need CAP_NET_RAW, which root has.
    """
    found = cluster.owners
    if not isinstance(found, AddressProbes):
        is_off = isinstance(found, NotGathered)
        yield NOT_PROBED.finding(
            "This run sent no ARP probes." if is_off else f"ARP probes could not be sent: {found.reason}",
            status=Status.SKIPPED if is_off else Status.UNKNOWN,
            subject="no probes",
            evidence=[(node.name, "interfaces") for node in cluster.read_nodes()],
        )
        return
    if isinstance(found.probes, Unknown):
        yield NOT_PROBED.finding(
            f"Second owners of private addresses were not looked for: {found.probes.reason}.",
            subject="not allowed",
            evidence=[(found.node, "arp probes")],
            next=[NextStep("Run the check as root, or look by hand.", ("racwire check address-owners",), "root")],
        )
        return
    if not found.probes:
        yield NOT_PROBED.finding(
            f"{found.node} has no Ethernet port with IPv4 on a private network, so no ARP probe was sent.",
            subject="no port",
            evidence=[(node.name, "interfaces") for node in cluster.read_nodes()],
        )
        return
    doubles = [(probe, macs) for probe in found.probes if (macs := _strange(cluster, probe))]
    for probe, macs in doubles:
        yield _second(cluster, found.node, probe, macs)
    yield from _owned_once(cluster, found.node, found.probes, [probe for probe, _ in doubles])
    yield from _domains(cluster, found.node, found.across is not None)


def _owned_once(
    cluster: Cluster, sender: str, probes: Sequence[AddressProbe], doubles: Sequence[AddressProbe]
) -> Iterator[Finding]:
    """Yield the addresses for which the owner alone answers, and those that were not judged, with the reason."""
    networks = cluster.read_networks()
    silent = [p for p in probes if not p.macs and p.node != sender]
    unasked = [n for n in networks if n.ports and not any(p.network == n.name for p in probes)]
    spoiled = {p.network for p in (*silent, *doubles)}
    clear = [n for n in networks if n.name not in spoiled and any(p.network == n.name for p in probes)]
    if not silent and not doubles and not unasked:
        yield _one_owner(sender, probes, None)
    else:
        yield from (_one_owner(sender, [p for p in probes if p.network == n.name], n) for n in clear)
    for network in networks:
        if mute := [p for p in silent if p.network == network.name]:
            nodes = list(dict.fromkeys(p.node for p in mute))
            yield NOT_PROBED.finding(
                f"Whether a second host has {listed(p.ip for p in mute)} of {listed(nodes)} is not known: no host "
                "answered the ARP probes.",
                subject=f"{listed(nodes)}: no answer",
                evidence=[(sender, "arp probes")],
                network=network.name,
                nodes=nodes,
            )
    for network in unasked:
        yield NOT_PROBED.finding(
            f"Second owners of addresses on {network.name} were not looked for: {sender} has no Ethernet port with "
            "IPv4 there.",
            subject=f"{network.name}: no port",
            network=network.name,
        )


def _one_owner(sender: str, probes: Sequence[AddressProbe], network: PrivateNetwork | None) -> Finding:
    haip = sum(p.ip.startswith("169.254.") for p in probes)
    where = f"on {network.name}" if network else "of private networks"
    which = f"{len(probes)} addresses {where}{f', {haip} of HAIP' if haip else ''}"
    return ONE_OWNER.finding(
        f"No second host answered the {counted(sum(p.sent for p in probes), 'ARP probe')} of {sender} for the {which}.",
        subject=f"{len(probes)} probed",
        seen=some([f"{p.ip} of {p.node}: {listed(p.macs) or 'no answer'}" for p in probes]),
        evidence=[(sender, "arp probes")],
        network=network.name if network else "",
        observed=read_at(ONE_OWNER.code, [(p.node, p.network) for p in probes]),
    )


def _strange(cluster: Cluster, probe: AddressProbe) -> list[str]:
    """Return the MAC addresses that answered and are not of the owner's NICs."""
    node = cluster.node(probe.node)
    own = {interface.mac_address.casefold() for interface in node.interfaces} if node else set()
    return [mac for mac in probe.macs if node and mac.casefold() not in own]


def _second(cluster: Cluster, sender: str, probe: AddressProbe, macs: list[str]) -> Finding:
    answering = [
        (node.name, interface.name)
        for node in cluster.read_nodes()
        for interface in node.interfaces
        if interface.mac_address.casefold() in macs
    ]
    others = list(dict.fromkeys(node for node, _ in answering))
    who = listed(f"{nic} of {node}" for node, nic in answering) or f"the NIC {listed(macs)}"
    # A kernel answers on each NIC for an address of any of its interfaces.
    holders = [(n, i) for n, i in also_has(cluster, probe.ip, probe.node) if n in others]
    if holders:
        who += f", since {listed(f'{nic} of {node} has it' for node, nic in holders)}"
    owner = cluster.node(probe.node)
    own = next((i for i in (owner.interfaces if owner else ()) if any(a.ip == probe.ip for a in i.addresses)), None)
    has = f"{own.name} of {probe.node} has {own.mac_address}" if own else f"{probe.node} has the address"
    is_haip = probe.ip.startswith("169.254.")
    kind, what = (SECOND_OF_HAIP, "the HAIP ") if is_haip else (SECOND, "")
    to = Traffic(networks=(probe.network,), receivers=(probe.node,), addresses=(kind_of_address(probe.ip),))
    return kind.finding(
        f"A second host answers for {what}{probe.ip} of {probe.node} on {probe.network}: {who}.",
        subject=f"{probe.ip}: {listed(macs)}",
        data={"address": probe.ip, "mac": macs[0]},
        seen=(f"{sender} sent {counted(probe.sent, 'ARP probe')}: answers from {listed(probe.macs)}", has),
        expected=(f"Answers from the NICs of {probe.node}",),
        next=[
            NextStep(
                "Ask by hand; two MAC addresses in the answers are two hosts.",
                (shell("arping -c 3 -I {nic} {ip}", nic=probe.interface, ip=probe.ip),),
                f"root on {sender}",
            ),
            *(_on_nodes(probe, others, holders) if others else _of_strangers(cluster, macs)),
        ],
        evidence=[(sender, "arp probes"), (probe.node, "interfaces"), *((node, "interfaces") for node in others)],
        network=probe.network,
        nodes=[*others, probe.node],
        extent=(len(macs), "hosts"),
        observed=[state(kind.code, probe.node, probe.network, own.name if own else "", probe.ip, to)],
    )


def _on_nodes(probe: AddressProbe, nodes: Sequence[str], holders: Sequence[tuple[str, str]]) -> Iterator[NextStep]:
    if holders:
        yield NextStep(
            "Find out which program set the address there.",
            owner_commands([nic for _, nic in holders]),
            f"{owner_user(nic for _, nic in holders)} on {listed(dict.fromkeys(node for node, _ in holders))}",
        )
        return
    yield NextStep(
        "Find out why the node answers for an address that its interfaces do not show: proxy ARP, or an address that "
        "was set after the nodes were read.",
        (shell("ip -brief address | grep -F {ip}", ip=probe.ip), "sysctl -a --pattern 'proxy_arp$'"),
        f"any user on {listed(nodes)}",
    )


def _of_strangers(cluster: Cluster, macs: Sequence[str]) -> Iterator[NextStep]:
    nodes = [node.name for node in cluster.read_nodes()]
    yield NextStep(
        f"Search the nodes for {listed(macs)}: a container or a virtual machine of a node can have it.",
        for_each("bridge fdb show | grep -i {mac}", mac=macs),
        f"any user on {named(nodes, 'node')}",
    )
    yield on_switches(
        f"Else ask the network team for the switch port that learned {listed(macs)}.",
        *(switch("show mac address-table address {mac}", mac=dotted(mac)) for mac in macs),
    )


# --- broadcast domains ------------------------------------------------------------------------------------------------


def _domains(cluster: Cluster, sender: str, was_asked: bool) -> Iterator[Finding]:
    """Yield which private networks are one broadcast domain, and which NICs are on the wrong network."""
    found = places(cluster)
    pairs: dict[frozenset[str], list[HeardNic]] = {}
    for heard in found.elsewhere:
        if heard.is_at_home:
            pairs.setdefault(frozenset((heard.network, heard.on[0])), []).append(heard)
    for networks, heard_nics in pairs.items():
        yield _joined(cluster, sender, sorted(networks), heard_nics)
    for heard in found.misplaced:
        yield _misplaced(sender, heard)
    for heard in found.astray:
        yield _astray(sender, heard)
    if found.elsewhere or not was_asked or not found.asked:
        return
    yield from _apart(cluster, sender, found)


def _apart(cluster: Cluster, sender: str, found: Places) -> Iterator[Finding]:
    asked = list(dict.fromkeys(n for pair in found.asked for n in pair))
    ports = [(p.node, n.name) for n in cluster.read_networks() if n.name in asked for p in n.ports]
    if unjudged := (*found.alike, *found.unheard):
        nics = listed(f"{p.interface} of {p.node}" for p in unjudged)
        why = "answered no probe" if found.unheard else "has the MAC address of another private NIC"
        yield NOT_PROBED.finding(
            f"Whether {listed(asked)} are separate is not known: {nics} {why}.",
            subject="networks apart: not known",
            evidence=[(sender, "arp probes")],
        )
    elif ports:
        yield APART.finding(
            f"ARP probes of {sender} from the NIC of one private network reached no NIC of another one: "
            f"{listed(asked)} are separate.",
            subject=f"{len(asked)} networks apart",
            evidence=[(sender, "arp probes")],
            observed=read_at(APART.code, ports),
        )


def _joined(cluster: Cluster, sender: str, networks: Sequence[str], heard: Sequence[HeardNic]) -> Finding:
    nodes = list(dict.fromkeys(h.port.node for h in heard))
    ports = [n.name for n in cluster.read_nodes()]
    everywhere = len(nodes) == len(ports) or sender in nodes
    bridges = _bridges(cluster, networks)
    nics = listed(dict.fromkeys(f"{h.port.interface} of {h.port.node}" for h in heard))
    by = f": {listed(f'{bridge} of {node} joins them' for node, bridge in bridges)}" if bridges else ""
    return JOINED.finding(
        f"{listed(networks)} are one broadcast domain{by or f': {nics} answers on both' if len(heard) == 1 else by}.",
        subject=f"{listed(networks)} joined",
        data={"networks": ", ".join(networks)},
        seen=some([line for h in sorted(heard, key=lambda h: h.port.node == sender) for line in h.lines]),
        expected=("A VLAN or switch of its own for each private network",),
        next=[
            NextStep(
                "Look for a bridge between the two networks on the nodes.",
                ("ip -brief link show type bridge", "bridge link show"),
                f"any user on {listed(dict.fromkeys(node for node, _ in bridges)) or 'each node'}",
            ),
            *(
                []
                if bridges
                else [
                    NextStep(
                        f"Ask the network team, and the team of the hypervisor, for the VLAN of the ports of {nics}: "
                        "each private network needs one of its own.",
                        where="the network team",
                    )
                ]
            ),
        ],
        evidence=[(sender, "arp probes"), *((node, "interfaces") for node in nodes)],
        nodes=[node for node, _ in bridges] or ([] if everywhere else nodes),
        extent=(len(heard), "NICs"),
        observed=[
            state(JOINED.code, "", name, value=", ".join(networks), to=Traffic(networks=(name,))) for name in networks
        ],
    )


def _bridges(cluster: Cluster, names: Sequence[str]) -> list[tuple[str, str]]:
    """Return the bridges of the nodes that have NICs of both networks as ports."""
    nics = [{p.interface for n in cluster.read_networks() if n.name == name for p in n.ports} for name in names]
    return [
        (node.name, bridge.name)
        for node in cluster.read_nodes()
        for bridge in node.interfaces
        if bridge.kind == "bridge" and all(own & {bridge.name, *bridge.members} for own in nics)
    ]


def _misplaced(sender: str, heard: HeardNic) -> Finding:
    port = heard.port
    to = Traffic(networks=(heard.network,), receivers=(port.node,))
    back = Traffic(networks=(heard.network,), senders=(port.node,))
    return MISPLACED.finding(
        f"{port.interface} of {port.node} is on {listed(heard.on)}, and not on its own network {heard.network}: its "
        "cable or the VLAN of its port is wrong.",
        subject=f"{port.node} {port.interface} on {listed(heard.on)}",
        data={"interface": port.interface, "is_on": ", ".join(heard.on)},
        seen=some(heard.lines),
        expected=(f"{port.interface} answers on {heard.network}",),
        next=[
            _find_port(port),
            NextStep(
                f"Move the cable, or correct the VLAN of the port, of {port.interface} of {port.node}.",
                where="the network team",
                is_change=True,
                effect=Effect.NODE_OUT_FIRST,
            ),
        ],
        evidence=[(sender, "arp probes"), (port.node, "interfaces")],
        network=heard.network,
        nodes=[port.node],
        observed=[
            state(MISPLACED.code, port.node, heard.network, port.interface, listed(heard.on), one) for one in (to, back)
        ],
    )


def _find_port(port: Port) -> NextStep:
    return NextStep(
        f"Ask the network team for the port that learned the MAC address of {port.interface}, and its VLAN.",
        (shell("ip link show {nic}", nic=port.interface),),
        f"any user on {port.node}",
    )


def _astray(sender: str, heard: HeardNic) -> Finding:
    port = heard.port
    return ASTRAY.finding(
        f"{port.interface} of {port.node} is on {listed(heard.on)}; whether it is on its own network {heard.network} "
        "too is not known.",
        subject=f"{port.node} {port.interface} on {listed(heard.on)}",
        data={"interface": port.interface, "is_on": ", ".join(heard.on)},
        seen=(*some(heard.lines), f"no NIC answered {sender} on {heard.network}"),
        expected=(f"{port.interface} answers on {heard.network} alone",),
        next=[_find_port(port)],
        evidence=[(sender, "arp probes"), (port.node, "interfaces")],
        network=heard.network,
        nodes=[port.node],
        observed=[state(ASTRAY.code, port.node, heard.network, port.interface, listed(heard.on))],
    )
