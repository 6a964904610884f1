"""Would every private interface come up with the MTU that it runs with, after the next boot of its node?"""

from __future__ import annotations

import shlex
from collections.abc import Hashable, Iterable, Iterator, Sequence

from checks.model.check import Kind, check
from checks.model.facts import Cluster, Keeper, NodeSetup, Unknown, UnreadNode
from checks.model.finding import Finding, Remedy, Status
from checks.model.wording import listed
from checks.plugins.boot_mtu.at_next_boot import AtBoot, AtNextBoot, interfaces_at_boot, verdict
from checks.plugins.shared.grouping import alike, briefly, named, some
from checks.plugins.shared.path_words import short_name

_BY_NMCLI = (Keeper.NETWORK_MANAGER, Keeper.IFCFG_NETWORK_MANAGER)
_LINES = {
    Keeper.IFCFG: "MTU={mtu}",
    Keeper.WICKED: "MTU='{mtu}'",
    Keeper.NETWORKD: "MTUBytes={mtu} under [Link]",
    Keeper.NETPLAN: "mtu: {mtu}",
}
_MAN = "nm-settings(5), ifcfg(5), systemd.network(5), netplan(5)"
_ONE_BOOT_BREAKS = (
    "A node that boots with another MTU than its peers sends packets that they throw away, or throws away theirs, "
    "without an answer: blocks are lost, and the node fails to join or is evicted."
)

KEPT = Kind("IC-BOOT-001", "Every private interface comes up with the MTU that it runs with")
OTHER = Kind(
    "IC-BOOT-002",
    "A private interface would come up with another MTU after the next boot",
    _ONE_BOOT_BREAKS,
    ("MOS 563566.1, causes 5 and 12", _MAN),
)
BY_SCRIPT = Kind(
    "IC-BOOT-003",
    "The MTU of a private interface hangs on a script beside what brings it up",
    "A script runs once at boot, before or after the interface is there, and is not run again when the interface is "
    "activated anew: then the interface falls back to what its keeper knows.",
    ("nm-dispatcher(8)", "rc-local.service(8)", "udev(7)"),
)
NOT_KNOWN = Kind("IC-BOOT-004", "What a node keeps of its MTUs is not known", _ONE_BOOT_BREAKS)
NO_KEEPER = Kind("IC-BOOT-005", "Nothing that racwire knows of keeps the MTU of a private interface")
AUTOSTART_OFF = Kind(
    "IC-BOOT-006",
    "Clusterware does not start at the next boot of a node",
    "After a boot the node stays out of the cluster until Clusterware is started by hand, as is meant during a "
    "planned change.",
    ("Clusterware Administration Guide, crsctl config crs",),
)


@check(
    "boot-mtu",
    question="Would every private interface come up with its MTU after the next boot?",
    needs=("nodes", "networks", "setups"),
    kinds=(KEPT, OTHER, BY_SCRIPT, NOT_KNOWN, NO_KEEPER, AUTOSTART_OFF),
)
def boot_mtu(cluster: Cluster) -> Iterator[Finding]:
    """Compares the MTU of each private interface, and of each layer below it, with what the node's files keep.

    Read are the files of what brings interfaces up: NetworkManager, ifcfg, systemd-networkd, wicked. The YAML of
    netplan is not read, since RAC is not certified on Ubuntu: what it configures is UNKNOWN. Where a file sets no MTU,
    a member of a bond gets that of the bond, a VLAN that of its parent, and any other interface 1500.
    Lines of scripts and udev rules that set an MTU are told as what they are: fragile. An interface that nothing known
    keeps, as in a container, is told and is no fault.
    """
    if isinstance(cluster.networks, Unknown) or isinstance(cluster.setups, Unknown):
        return
    interfaces = tuple(interfaces_at_boot(cluster))
    for group in alike(
        interfaces, lambda i: (verdict(i), i.network.name, i.interface.name, i.interface.mtu, _after(i))
    ):
        if verdict(group[0]) is AtNextBoot.OTHER:
            yield _other(group)
        elif verdict(group[0]) is AtNextBoot.BY_SCRIPT:
            yield _by_script(group)
    yield from _kept(interfaces)
    yield from _not_kept([i for i in interfaces if verdict(i) is AtNextBoot.NO_KEEPER])
    yield from _not_known(interfaces)
    yield from _unread(cluster.setups)
    yield from _autostart(cluster.setups)
    if not interfaces and not any(isinstance(setup, UnreadNode) for setup in cluster.setups):
        yield NOT_KNOWN.finding(
            Status.UNKNOWN,
            "No node that could be read has a port on a private network, so there is no MTU to keep.",
            subject="no ports",
            next=[Remedy("See first what the check interfaces says of the private networks.")],
            evidence=[(node.name, "interfaces") for node in cluster.read_nodes()],
        )


def _kind_of_fault(at: AtBoot) -> Hashable:
    """Interfaces that are alike in this have one fault and one remedy."""
    keeper = at.kept.keeper if at.kept else None
    return verdict(at), at.network.name, at.interface.name, at.interface.mtu, _after(at), keeper


def _after(at: AtBoot) -> int | str | None:
    """What it comes up with: findings are of interfaces that are alike in it."""
    return at.mtu.reason if isinstance(at.mtu, Unknown) else at.mtu


def _other(group: Sequence[AtBoot]) -> Finding:
    runs, after = group[0].interface.mtu, _after(group[0])
    verb, its = ("runs", "its") if len(group) == 1 else ("run", "their")
    said = {at.kept.mtu if at.kept else None for at in group}
    if said == {after}:
        because = f"so {'its file says' if len(group) == 1 else 'their files say'}"
    elif any(isinstance(mtu, int) for mtu in said):
        because = f"{'its parent has' if len(group) == 1 else 'their parents have'} no more then"
    else:
        because = f"no file keeps {runs}"
    return OTHER.finding(
        Status.WARN,
        f"{_where(group)} {verb} at {runs} and will come up at {after} after {its} next boot: {because}.",
        subject=f"{_brief(group)}: {runs} -> {after}",
        data={
            "interfaces": len(group),
            "mtu_bytes": runs,
            "mtu_at_boot_bytes": after if isinstance(after, int) else None,
        },
        seen=some([_line(at) for at in group]),
        expected=(f"MTU {runs} in what brings the interface up, or in its bond or parent",),
        next=[_look(group), _keep(group)],
        evidence=_evidence(group),
        network=group[0].network.name,
        nodes=[at.node for at in group],
        extent=(len(group), "interfaces"),
    )


def _by_script(group: Sequence[AtBoot]) -> Finding:
    first = group[0]
    runs, verb = first.interface.mtu, "runs" if len(group) == 1 else "run"
    scripts = named((at.by_script.file for at in group if at.by_script), "script")
    if first.by_script and first.by_script.mtu != runs:
        title = f"{_where(group)} {verb} at {runs}, and {scripts} will set {first.by_script.mtu} at the next boot."
    else:
        keeper = "what else keeps it is not known"
        if isinstance(first.mtu, int):
            keeper = f"without it the interface comes up at {first.mtu}"
        elif first.mtu is None:
            keeper = "nothing else is known to keep it"
        title = f"{_where(group)} {verb} at {runs} only because {scripts} says so: {keeper}."
    return BY_SCRIPT.finding(
        Status.WARN,
        title,
        subject=f"{_brief(group)}: {scripts}",
        data={
            "interfaces": len(group),
            "mtu_bytes": runs,
            "mtu_by_script_bytes": first.by_script.mtu if first.by_script else None,
        },
        seen=some(
            [line for at in group for line in (*(f"{at.node}: {f.file}: {f.line}" for f in at.fragile), _line(at))]
        ),
        expected=("The MTU in what brings the interface up, and in no script",),
        next=[_look(group), _keep(group)],
        evidence=_evidence(group),
        network=first.network.name,
        nodes=[at.node for at in group],
        extent=(len(group), "interfaces"),
    )


def _kept(interfaces: Sequence[AtBoot]) -> Iterator[Finding]:
    for group in alike(interfaces, lambda at: at.network.name):
        if any(verdict(at) is not AtNextBoot.KEPT for at in group):
            continue
        network = group[0].network
        mtus = listed(dict.fromkeys(str(at.interface.mtu) for at in group))
        nodes = list(dict.fromkeys(at.node for at in group))
        verb = "keeps" if len(nodes) == 1 else "keep"
        yield KEPT.finding(
            Status.PASS,
            f"{named(nodes, 'node')} {verb} MTU {mtus} on {network.name} through the next boot.",
            subject=f"{short_name(network)} {mtus}",
            seen=some([_line(at) for at in group], 12),
            evidence=_evidence(group),
            network=network.name,
        )


def _not_kept(group: Sequence[AtBoot]) -> Iterator[Finding]:
    if group:
        yield NO_KEEPER.finding(
            Status.INFO,
            f"Nothing that racwire knows of keeps {_where(group)}; the MTU after the next boot cannot be told.",
            subject=_brief(group),
            data={"interfaces": len(group)},
            seen=some([_line(at) for at in group]),
            expected=("A file of NetworkManager, ifcfg, systemd-networkd, netplan or wicked, as on a node of its own",),
            evidence=_evidence(group),
            nodes=[at.node for at in group],
            extent=(len(group), "interfaces"),
        )


def _not_known(interfaces: Sequence[AtBoot]) -> Iterator[Finding]:
    told = {at.node for at in interfaces if verdict(at) is not AtNextBoot.UNKNOWN}
    unknown = [at for at in interfaces if verdict(at) is AtNextBoot.UNKNOWN]
    for group in alike(unknown, lambda at: (_after(at), at.node in told)):
        yield NOT_KNOWN.finding(
            Status.INFO if group[0].node in told else Status.UNKNOWN,
            f"What MTU {_where(group)} will have after the next boot is not known.",
            subject=_brief(group),
            data={"interfaces": len(group)},
            seen=(*some([_line(at) for at in group]), f"{_after(group[0])}"),
            next=[
                _look(group),
                Remedy("Run the check as root, who may read these files.", ("racwire check boot-mtu",)),
            ],
            evidence=_evidence(group),
            nodes=[at.node for at in group],
            extent=(len(group), "interfaces"),
        )


def _unread(setups: Iterable[NodeSetup | UnreadNode]) -> Iterator[Finding]:
    for unread in setups:
        if isinstance(unread, UnreadNode):
            yield NOT_KNOWN.finding(
                Status.UNKNOWN,
                f"What MTUs {unread.name} will have after its next boot is not known, since it could not be read.",
                subject=f"{unread.name} not read",
                seen=(unread.reason,),
                next=[Remedy("Mend the reason named above, then run the check again.")],
                evidence=[(unread.name, "ssh")],
                nodes=[unread.name],
            )


def _autostart(setups: Iterable[NodeSetup | UnreadNode]) -> Iterator[Finding]:
    off = [setup for setup in setups if isinstance(setup, NodeSetup) and setup.autostart is False]
    if off:
        names = [setup.name for setup in off]
        yield AUTOSTART_OFF.finding(
            Status.INFO,
            f"Clusterware does not start by itself after the next boot of {listed(names)}.",
            subject=f"{briefly(names, 'node')}: autostart off",
            data={"autostart": False},
            seen=[f"{name}: autostart is off" for name in names],
            expected=("Autostart on, unless a change is under way",),
            next=[
                Remedy("See how it is set.", ("crsctl config crs",), f"root on {listed(names)}"),
                Remedy("Switch it on when no change is under way.", ("crsctl enable crs",), "root", is_change=True),
            ],
            evidence=[(name, "setup") for name in names],
            nodes=names,
        )


def _where(group: Sequence[AtBoot]) -> str:
    """`eth1 and eth2 of rac1, rac2 and rac3`; one by one where the nodes do not have the same interfaces."""
    by_node = {at.node: [other.interface.name for other in group if other.node == at.node] for at in group}
    if len({tuple(names) for names in by_node.values()}) == 1:
        return f"{named(next(iter(by_node.values())), 'interface')} of {named(by_node, 'node')}"
    return named((at.name for at in group), "interface")


def _brief(group: Sequence[AtBoot]) -> str:
    names = briefly((at.interface.name for at in group), "interface")
    return f"{names} {briefly((at.node for at in group), 'node')}"


def _line(at: AtBoot) -> str:
    """What runs, and what is kept where."""
    if at.kept is None:
        kept = "kept by nothing known" if at.mtu is None else "no file of its own"
    else:
        place = at.kept.file or at.kept.connection or str(at.kept.keeper)
        said = at.kept.mtu
        kept = f"{place} says {said}" if isinstance(said, int) else f"{place} sets no MTU"
        if isinstance(said, Unknown):
            kept = f"{place}: not known"
    comes = f", comes up at {at.mtu}" if isinstance(at.mtu, int) else ""
    return f"{at.node}: {at.interface.name} runs at {at.interface.mtu}{comes}; {kept}"


def _look(group: Sequence[AtBoot]) -> Remedy:
    return Remedy(
        "Look at what is kept.",
        tuple(dict.fromkeys(_look_command(at) for at in group)),
        f"root on {listed(dict.fromkeys(at.node for at in group))}",
    )


def _look_command(at: AtBoot) -> str:
    if at.kept and at.kept.keeper in _BY_NMCLI and at.kept.connection:
        return f"nmcli -f {_property(at)} connection show {shlex.quote(at.kept.connection)}"
    if at.kept and at.kept.file:
        return f"cat {shlex.quote(at.kept.file)}"
    return f"ip -details link show {shlex.quote(at.interface.name)}"


def _keep(group: Sequence[AtBoot]) -> Remedy:
    """Only what is kept is changed, and the interface runs on as it is: no node is at risk by that."""
    mtu = group[0].interface.mtu
    keeper = group[0].kept.keeper if group[0].kept else Keeper.UNKNOWN
    commands: list[str] = []
    if keeper in _BY_NMCLI:
        where = "into its connection"
        names = {at.kept.connection: _property(at) for at in group if at.kept and at.kept.connection}
        commands = [f"nmcli connection modify {shlex.quote(name)} {key} {mtu}" for name, key in names.items()]
    else:
        files = dict.fromkeys(at.kept.file for at in group if at.kept and at.kept.file)
        line = _LINES.get(keeper, "").format(mtu=mtu)
        where = f"as {line} into {named(files, 'file')}" if line and files else "into what brings it up"
    return Remedy(
        f"Ask whether {mtu} is meant. If so, write it {where}; the interface need not be taken down for that. If not, "
        "follow the safe-change procedure.",
        tuple(commands),
        f"root on {listed(dict.fromkeys(at.node for at in group))}",
        is_change=True,
    )


def _property(at: AtBoot) -> str:
    return "infiniband.mtu" if at.interface.kind == "infiniband" else "802-3-ethernet.mtu"


def _evidence(group: Sequence[AtBoot]) -> list[tuple[str, str]]:
    nodes = dict.fromkeys(at.node for at in group)
    return [(node, topic) for node in nodes for topic in ("interfaces", "boot files")]
