"""Will every private interface have its present MTU after the next boot of its node?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from checks.model.check import InfoKind, Kind, PassKind, UnknownKind, WarnKind, check
from checks.model.condition import ConditionKind
from checks.model.facts import Cluster, NetworkService, NodeSetup, Unknown, UnreadNode
from checks.model.finding import Finding, NextStep, Status, check_again
from checks.model.observation import Observation
from checks.model.shell_command import shell
from checks.model.wording import listed
from checks.plugins.boot_mtu.at_next_boot import AtBoot, AtNextBoot, interfaces_at_boot, verdict
from checks.plugins.boot_mtu.next_addresses import NEXT_ADDRESS_KINDS, next_address_findings
from checks.plugins.shared.grouping import alike, briefly, named, nics_named, some, topics_of
from checks.plugins.shared.mtu_remedy import same_mtu
from checks.plugins.shared.path_text import short_name
from checks.rules.node_apart import nodes_apart
from checks.rules.observed.states import read_on, state

_BY_NMCLI = (NetworkService.NETWORK_MANAGER, NetworkService.IFCFG_NETWORK_MANAGER)
_LINES = {
    NetworkService.IFCFG: "MTU={mtu}",
    NetworkService.WICKED: "MTU='{mtu}'",
    NetworkService.NETWORKD: "MTUBytes={mtu} under [Link]",
    NetworkService.NETPLAN: "mtu: {mtu}",
}
_DIRECTORIES = {
    NetworkService.NETWORK_MANAGER: "/etc/NetworkManager/system-connections",
    NetworkService.IFCFG_NETWORK_MANAGER: "/etc/sysconfig/network-scripts",
    NetworkService.IFCFG: "/etc/sysconfig/network-scripts",
    NetworkService.WICKED: "/etc/sysconfig/network",
    NetworkService.NETWORKD: "/etc/systemd/network",
}
_MAN = "nm-settings(5), ifcfg(5), systemd.network(5), netplan(5)"
_ONE_BOOT_BREAKS = (
    "A node that boots with a different MTU than its peers sends packets that the peers drop silently, or silently "
    "drops theirs. Blocks are lost, and the node fails to join the cluster or is evicted."
)

KEPT = PassKind("IC-BOOT-001", "Every private interface keeps its present MTU through the next boot")
OTHER = WarnKind(
    "IC-BOOT-002",
    "A private interface will have a different MTU after the next boot",
    _ONE_BOOT_BREAKS,
    ("MOS 563566.1, causes 5 and 12", _MAN),
)
BY_SCRIPT = WarnKind(
    "IC-BOOT-003",
    "The MTU of a private interface depends on a script",
    "A script runs once at boot, before or after the interface exists, and does not run when the interface is "
    "reactivated. The interface then falls back to the MTU that its network service has configured.",
    ("nm-dispatcher(8)", "rc-local.service(8)", "udev(7)"),
)
NOT_KNOWN = UnknownKind(
    "IC-BOOT-004", "The MTUs that a node will have after its next boot are not known", _ONE_BOOT_BREAKS
)
NO_KEEPER = InfoKind("IC-BOOT-005", "No network service that racwire knows configures a private interface")
AUTOSTART_OFF = InfoKind(
    "IC-BOOT-006",
    "Clusterware does not start at the next boot of a node",
    "After a boot the node stays out of the cluster until Clusterware is started by hand. During a planned change "
    "that is intended.",
    ("Clusterware Administration Guide, crsctl config crs",),
)
AUTOSTART_NOT_KNOWN = UnknownKind(
    "IC-BOOT-007",
    "Whether Clusterware starts at the next boot of a node is not known",
    AUTOSTART_OFF.why,
    AUTOSTART_OFF.sources,
)


@check(
    "boot-mtu",
    question="Will every private interface have its present MTU after the next boot?",
    needs=("nodes", "networks", "setups"),
    about=(ConditionKind.MTU,),
    kinds=(KEPT, OTHER, BY_SCRIPT, NOT_KNOWN, NO_KEEPER, AUTOSTART_OFF, AUTOSTART_NOT_KNOWN, *NEXT_ADDRESS_KINDS),
)
def boot_mtu(cluster: Cluster) -> Iterator[Finding]:
    """Compares the MTU of each private interface, and of each layer below it, with the boot configuration of the node.

    The check reads the files of the network services NetworkManager, ifcfg, systemd-networkd and wicked. It does not
    read the YAML of netplan, since RAC is not certified on Ubuntu: an interface of netplan is UNKNOWN. Where a file
    sets no MTU, a member of a bond gets the MTU of the bond, a VLAN gets the MTU of its parent, and any other interface
    gets 1500. A line of a script or udev rule that sets an MTU is reported as fragile. An interface that no known
    network service configures, as in a container, is reported for information and is not a fault.

    An interface that its file does not bring up at boot, or that will have another address than it has now, is a
    warning. An address by DHCP is reported for information. Addresses of HAIP are not compared: Clusterware sets them.
    """
    if isinstance(cluster.networks, Unknown) or isinstance(cluster.setups, Unknown):
        return
    interfaces = tuple(interfaces_at_boot(cluster))
    for group in alike(
        interfaces, lambda i: (verdict(i), i.network.name, i.interface.name, i.interface.mtu, _after(i))
    ):
        if verdict(group[0]) is AtNextBoot.OTHER:
            yield _other(cluster, group)
        elif verdict(group[0]) is AtNextBoot.BY_SCRIPT:
            yield _by_script(cluster, group)
    yield from _kept(interfaces)
    yield from _not_kept([i for i in interfaces if verdict(i) is AtNextBoot.NO_KEEPER])
    yield from _not_known(interfaces)
    yield from next_address_findings(interfaces)
    yield from _unread(cluster.setups)
    yield from _autostart(cluster.setups)
    yield from _autostart_not_known(cluster.setups)
    if not interfaces and not any(isinstance(setup, UnreadNode) for setup in cluster.setups):
        yield NOT_KNOWN.finding(
            "No node that could be read has a port on a private network, so there is no MTU to check.",
            subject="no ports",
            next=[NextStep("Read the findings of the check interfaces on the private networks first.")],
            evidence=[(node.name, "interfaces") for node in cluster.read_nodes()],
        )


def _after(at: AtBoot) -> int | str | None:
    """The MTU after the next boot, or the reason why it is not known; one finding has the interfaces with the same."""
    return at.mtu.reason if isinstance(at.mtu, Unknown) else at.mtu


def _other(cluster: Cluster, group: Sequence[AtBoot]) -> Finding:
    runs, after = group[0].interface.mtu, _after(group[0])
    verb, its = ("runs", "its") if len(group) == 1 else ("run", "their")
    configured = {at.kept.mtu if at.kept else None for at in group}
    if configured == {after}:
        because = f"{'its file sets' if len(group) == 1 else 'their files set'} MTU {after}"
    elif any(isinstance(mtu, int) for mtu in configured):
        because = f"{'its parent' if len(group) == 1 else 'their parents'} will have no larger MTU"
    else:
        because = f"no file sets MTU {runs}"
    return OTHER.finding(
        f"{_where(group)} {verb} at MTU {runs} and will have MTU {after} after {its} next boot: {because}.",
        subject=f"{_brief(group)}: {runs} -> {after}",
        data={
            "interfaces": len(group),
            "mtu_bytes": runs,
            "mtu_at_boot_bytes": after if isinstance(after, int) else None,
        },
        seen=some([_line(at) for at in group]),
        expected=(f"MTU {runs} in the boot configuration of the interface, or of its bond or parent",),
        next=[_inspect(group), _persist(cluster, group)],
        evidence=_evidence(group),
        network=group[0].network.name,
        nodes=[at.node for at in group],
        extent=(len(group), "interfaces"),
        observed=_observed(OTHER, group),
    )


def _by_script(cluster: Cluster, group: Sequence[AtBoot]) -> Finding:
    first = group[0]
    runs, verb = first.interface.mtu, "runs" if len(group) == 1 else "run"
    scripts = named((at.by_script.file for at in group if at.by_script), "script")
    if first.by_script and first.by_script.mtu != runs:
        title = (
            f"{_where(group)} {verb} at MTU {runs}, and {scripts} will set MTU {first.by_script.mtu} at the next boot."
        )
    else:
        otherwise = "the MTU without the script is not known"
        if isinstance(first.mtu, int):
            otherwise = f"without the script it will be {first.mtu}"
        elif first.mtu is None:
            otherwise = "no known network service sets it"
        title = f"MTU {runs} of {_where(group)} comes only from {scripts}: {otherwise}."
    return BY_SCRIPT.finding(
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
        expected=("The MTU in the boot configuration of the interface, and in no script",),
        next=[_inspect(group), _persist(cluster, group)],
        evidence=_evidence(group),
        network=first.network.name,
        nodes=[at.node for at in group],
        extent=(len(group), "interfaces"),
        observed=_observed(BY_SCRIPT, group),
    )


def _observed(kind: Kind, group: Sequence[AtBoot]) -> list[Observation]:
    return [
        state(kind.code, at.node, at.network.name, at.interface.name, at.mtu if isinstance(at.mtu, int) else None)
        for at in group
    ]


def _kept(interfaces: Sequence[AtBoot]) -> Iterator[Finding]:
    for group in alike(interfaces, lambda at: at.network.name):
        if any(verdict(at) is not AtNextBoot.KEPT for at in group):
            continue
        network = group[0].network
        mtus = listed(dict.fromkeys(str(at.interface.mtu) for at in group))
        nodes = list(dict.fromkeys(at.node for at in group))
        verb = "keeps" if len(nodes) == 1 else "keep"
        yield KEPT.finding(
            f"{named(nodes, 'node')} {verb} MTU {mtus} on {network.name} through the next boot.",
            subject=f"{short_name(network)} {mtus}",
            seen=some([_line(at) for at in group], 12),
            evidence=_evidence(group),
            network=network.name,
            observed=read_on(KEPT.code, nodes, network.name),
        )


def _not_kept(group: Sequence[AtBoot]) -> Iterator[Finding]:
    if group:
        yield NO_KEEPER.finding(
            f"No known network service configures {_where(group)}, so the MTU after the next boot is not known.",
            subject=_brief(group),
            data={"interfaces": len(group)},
            seen=some([_line(at) for at in group]),
            expected=("A file of NetworkManager, ifcfg, systemd-networkd, netplan or wicked, unless in a container",),
            evidence=_evidence(group),
            nodes=[at.node for at in group],
            extent=(len(group), "interfaces"),
        )


def _not_known(interfaces: Sequence[AtBoot]) -> Iterator[Finding]:
    told = {at.node for at in interfaces if verdict(at) is not AtNextBoot.UNKNOWN}
    unknown = [at for at in interfaces if verdict(at) is AtNextBoot.UNKNOWN]
    for group in alike(unknown, lambda at: (_after(at), at.node in told)):
        yield NOT_KNOWN.finding(
            f"The MTU of {_where(group)} after the next boot is not known.",
            status=Status.INFO if group[0].node in told else Status.UNKNOWN,
            subject=_brief(group),
            data={"interfaces": len(group)},
            seen=(*some([_line(at) for at in group]), f"{_after(group[0])}"),
            next=[_inspect(group)],
            lacks=[at.mtu for at in group if isinstance(at.mtu, Unknown)],
            evidence=_evidence(group),
            nodes=[at.node for at in group],
            extent=(len(group), "interfaces"),
        )


def _unread(setups: Iterable[NodeSetup | UnreadNode]) -> Iterator[Finding]:
    for unread in setups:
        if isinstance(unread, UnreadNode):
            yield NOT_KNOWN.finding(
                f"The MTUs of {unread.name} after its next boot are not known, since racwire could not read the node.",
                subject=f"{unread.name} not read",
                seen=(unread.reason,),
                next=[check_again("boot-mtu")],
                evidence=[(unread.name, "ssh")],
                nodes=[unread.name],
                lacks=[unread],
            )


def _autostart(setups: Iterable[NodeSetup | UnreadNode]) -> Iterator[Finding]:
    off = [setup for setup in setups if isinstance(setup, NodeSetup) and setup.autostart is False]
    if off:
        names = [setup.name for setup in off]
        yield AUTOSTART_OFF.finding(
            f"Clusterware will not start automatically after the next boot of {listed(names)}.",
            subject=f"{briefly(names, 'node')}: autostart off",
            data={"autostart": False},
            seen=[f"{name}: autostart is off" for name in names],
            expected=("Autostart on, unless a change is in progress",),
            next=[
                NextStep("Display the autostart setting.", ("crsctl config crs",), f"root on {listed(names)}"),
                NextStep(
                    "Switch autostart on when no change is in progress.", ("crsctl enable crs",), "root", is_change=True
                ),
            ],
            evidence=[(name, "setup") for name in names],
            nodes=names,
        )


def _autostart_not_known(setups: Iterable[NodeSetup | UnreadNode]) -> Iterator[Finding]:
    """Yield a finding for each reason, for the nodes that have a Grid home."""
    by_reason: dict[str, list[str]] = {}
    for setup in setups:
        if isinstance(setup, NodeSetup) and isinstance(setup.autostart, Unknown) and isinstance(setup.grid_home, str):
            by_reason.setdefault(setup.autostart.reason, []).append(setup.name)
    for reason, names in by_reason.items():
        yield AUTOSTART_NOT_KNOWN.finding(
            f"Whether Clusterware starts at the next boot of {listed(names)} is not known.",
            subject=f"{briefly(names, 'node')}: autostart not known",
            seen=(reason,),
            expected=("Autostart on, unless a change is in progress",),
            next=[NextStep("Display the autostart setting.", ("crsctl config crs",), f"root on {listed(names)}")],
            evidence=[(name, "setup") for name in names],
            nodes=names,
        )


def _where(group: Sequence[AtBoot]) -> str:
    """Return `eth1 and eth2 of rac1, rac2 and rac3`; each interface with its node where the names differ."""
    return nics_named([(at.node, at.interface.name) for at in group], "interface")


def _brief(group: Sequence[AtBoot]) -> str:
    names = briefly((at.interface.name for at in group), "interface")
    return f"{names} {briefly((at.node for at in group), 'node')}"


def _line(at: AtBoot) -> str:
    """Return one line with the running MTU, the MTU after the next boot, and the file that configures it."""
    if at.kept is None:
        kept = "no known network service configures it" if at.mtu is None else "no file of its own"
    else:
        place = at.kept.file or at.kept.connection or str(at.kept.network_service)
        configured = at.kept.mtu
        kept = f"{place} sets MTU {configured}" if isinstance(configured, int) else f"{place} sets no MTU"
        if isinstance(configured, Unknown):
            kept = f"the MTU in {place} is not known"
    after = f", will have MTU {at.mtu} after the next boot" if isinstance(at.mtu, int) else ""
    return f"{at.node}: {at.interface.name} runs at MTU {at.interface.mtu}{after}; {kept}"


def _inspect(group: Sequence[AtBoot]) -> NextStep:
    user = "root" if any(_in_files(at) for at in group) else "any user"
    return NextStep(
        "Display the boot configuration.",
        tuple(dict.fromkeys(_inspect_command(at) for at in group)),
        f"{user} on {listed(dict.fromkeys(at.node for at in group))}",
    )


def _by_nmcli(at: AtBoot) -> bool:
    return at.kept is not None and at.kept.network_service in _BY_NMCLI and bool(at.kept.connection)


def _in_files(at: AtBoot) -> bool:
    """Whether the configuration is looked for in files, which root alone may be able to read."""
    return at.kept is not None and not _by_nmcli(at) and bool(at.kept.file or at.kept.network_service in _DIRECTORIES)


def _inspect_command(at: AtBoot) -> str:
    if at.kept and _by_nmcli(at):
        return shell(
            "nmcli -f {property} connection show {connection}", property=_property(at), connection=at.kept.connection
        )
    if at.kept and at.kept.file:
        return shell("cat {file}", file=at.kept.file)
    if at.kept and (directory := _DIRECTORIES.get(at.kept.network_service)):
        return shell("grep -r -i mtu {directory}", directory=directory)
    return shell("ip -details link show {nic}", nic=at.interface.name)


def _persist(cluster: Cluster, group: Sequence[AtBoot]) -> NextStep:
    """Return the remedy that changes the boot configuration only: the running interface stays as it is.

    Where the files of the one node that differs have the MTU of the others, the running MTU is the wrong one.
    """
    mtu = group[0].interface.mtu
    for one in nodes_apart(cluster):
        if all(at.node == one.node and at.mtu == one.mtu for at in group):
            return same_mtu(cluster, one.mtu, [one.node])
    service = group[0].kept.network_service if group[0].kept else NetworkService.UNKNOWN
    commands: list[str] = []
    if service in _BY_NMCLI:
        where = "into the connection of NetworkManager"
        names = {at.kept.connection: _property(at) for at in group if at.kept and at.kept.connection}
        commands = [
            shell("nmcli connection modify {connection} {key} {mtu}", connection=name, key=key, mtu=mtu)
            for name, key in names.items()
        ]
    else:
        files = dict.fromkeys(at.kept.file for at in group if at.kept and at.kept.file)
        line = _LINES.get(service, "").format(mtu=mtu)
        where = f"as {line} into {named(files, 'file')}" if line and files else "into the boot configuration"
    return NextStep(
        f"Ask whether MTU {mtu} is intended. If it is, write it {where}; the interface can stay up. If it is not, "
        "follow the safe-change procedure.",
        tuple(commands),
        f"root on {listed(dict.fromkeys(at.node for at in group))}",
        is_change=True,
    )


def _property(at: AtBoot) -> str:
    return "infiniband.mtu" if at.interface.kind == "infiniband" else "802-3-ethernet.mtu"


def _evidence(group: Sequence[AtBoot]) -> list[tuple[str, str]]:
    return topics_of((at.node for at in group), "interfaces", "boot files")
