"""Whether the private interfaces come up at the next boot, with the addresses that they have now."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence
from enum import Enum

from checks.model.check import InfoKind, Kind, PassKind, WarnKind
from checks.model.facts import NetworkService, Unknown
from checks.model.finding import Finding, NextStep
from checks.model.shell_command import shell
from checks.model.wording import listed
from checks.plugins.boot_mtu.at_next_boot import AtBoot
from checks.plugins.shared.grouping import alike, briefly, named, some
from checks.rules.observed.states import read_on, state

_MAN = "nm-settings(5), ifcfg(5), systemd.network(5), wicked(8)"
_WITHOUT = (
    "Without its private network a node does not join the cluster after a boot; with a second one, HAIP uses that."
)
NO_START = WarnKind("IC-BOOT-008", "A private interface will not come up by itself at the next boot", _WITHOUT, (_MAN,))
OTHER_ADDRESS = WarnKind(
    "IC-BOOT-009",
    "A private interface will not have its present address after the next boot",
    f"{_WITHOUT} Addresses of HAIP are not meant: Clusterware sets them.",
    (_MAN,),
)
BY_DHCP = InfoKind(
    "IC-BOOT-010",
    "A private interface takes its address from DHCP at the next boot",
    "Whether DHCP assigns the present address again does not show on the node.",
    (_MAN,),
)
IN_PLACE = PassKind("IC-BOOT-011", "The private interfaces come up at the next boot, with their present addresses")
NOT_EXAMINED = InfoKind("IC-BOOT-012", "Whether a private interface comes up at the next boot was not examined")
NEXT_ADDRESS_KINDS = (NO_START, OTHER_ADDRESS, BY_DHCP, IN_PLACE, NOT_EXAMINED)

_NM = (NetworkService.NETWORK_MANAGER, NetworkService.IFCFG_NETWORK_MANAGER)
_SWITCHES = {
    NetworkService.NETWORK_MANAGER: "autoconnect=false",
    NetworkService.IFCFG_NETWORK_MANAGER: "ONBOOT=no",
    NetworkService.IFCFG: "ONBOOT=no",
    NetworkService.WICKED: "STARTMODE off or manual",
    NetworkService.NETWORKD: "an ActivationPolicy that leaves it down",
}


class _Start(Enum):
    """Whether an interface comes up at the next boot by itself."""

    YES = "comes up"
    NO = "does not come up by itself"
    BY_BOND = "comes up where its bond starts it"
    UNREAD = "not read"


def next_address_findings(interfaces: Sequence[AtBoot]) -> Iterator[Finding]:
    """Yield what the files of the network services say about the start and the address of each private interface.

    The address is compared where the interface itself has the private one, its start on each layer below it, too.
    Interfaces whose file was not read, and files of versions that did not read this, are in no finding.
    """
    off = [at for at in interfaces if _start(at) is _Start.NO]
    for same in alike(off, lambda at: (at.network.name, at.interface.name, at.kept and at.kept.network_service)):
        yield _no_start(same)
    for at in interfaces:
        if _has(at) is False and at.kept and not at.kept.is_by_dhcp:
            yield _other_address(at, at.kept.addresses if isinstance(at.kept.addresses, tuple) else ())
    by_dhcp = [at for at in interfaces if _has(at) is False and at.kept and at.kept.is_by_dhcp]
    yield from _left(BY_DHCP, by_dhcp, "DHCP assigns the address of {} at the next boot.", "by DHCP")
    open_ = [at for at in interfaces if _start(at) is _Start.BY_BOND]
    yield from _left(NOT_EXAMINED, open_, "Whether {} comes up at the next boot was not examined.", "not examined")
    for same in alike(interfaces, lambda at: at.network.name):
        if all(_is_in_place(at) for at in same):
            yield _in_place(same)


def _start(at: AtBoot) -> _Start:
    """Return whether the interface comes up. ifup and wicked start the members of a bond with it, and a VLAN starts the
    NIC below it; NetworkManager starts members where its bond says so (autoconnect-slaves), which is not read."""
    starts = at.kept.starts if at.kept else None
    if not isinstance(starts, bool):
        return _Start.UNREAD
    if starts or (not at.address and not at.interface.master and at.interface.kind == "ethernet"):
        return _Start.YES
    if at.interface.master:
        return _Start.BY_BOND if at.kept and at.kept.network_service in _NM else _Start.YES
    return _Start.NO


def _is_in_place(at: AtBoot) -> bool:
    return _start(at) is _Start.YES and (not at.address or _has(at) is True)


def _has(at: AtBoot) -> bool | None:
    """Return whether the present address is among those of the file; a file may leave the prefix length out. None where
    the file was not read, or the interface has none of the private addresses."""
    if at.kept is None or not at.address or isinstance(at.kept.addresses, Unknown):
        return None
    now = ipaddress.ip_interface(at.address)
    return any(
        (own := _parsed(text)) is not None and own.ip == now.ip and ("/" not in text or own.network == now.network)
        for text in at.kept.addresses
    )


def _parsed(text: str) -> ipaddress.IPv4Interface | ipaddress.IPv6Interface | None:
    try:
        return ipaddress.ip_interface(text)
    except ValueError:
        return None


def _no_start(same: Sequence[AtBoot]) -> Finding:
    kept = same[0].kept
    switch = _SWITCHES.get(kept.network_service, "") if kept else ""
    has = "its file has" if len(same) == 1 else "their files have"
    return NO_START.finding(
        f"{named((at.name for at in same), 'interface')} will not come up at the next boot: {has} {switch}.",
        subject=f"{briefly((at.node for at in same), 'node')} {same[0].interface.name}: stays down",
        data={"interfaces": len(same)},
        seen=some([_line(at) for at in same]),
        expected=("An interface that the network service brings up at boot",),
        next=[_look(same), _start_remedy(same)],
        evidence=_places(same),
        network=same[0].network.name,
        nodes=[at.node for at in same],
        extent=(len(same), "interfaces"),
        observed=[state(NO_START.code, at.node, at.network.name, at.interface.name, False) for at in same],
    )


def _other_address(at: AtBoot, addresses: Sequence[str]) -> Finding:
    will = listed(addresses) if addresses else "no address"
    return OTHER_ADDRESS.finding(
        f"{at.name} runs with {at.address} and will have {will} after its next boot.",
        subject=f"{at.node} {at.interface.name}: {at.address} -> {will}",
        data={"interface": at.interface.name, "address": at.address, "addresses_at_boot": ", ".join(addresses)},
        seen=(_line(at),),
        expected=(f"{at.address} in the boot configuration of {at.interface.name}",),
        next=[
            _look([at]),
            NextStep(
                f"Ask which address is meant. If it is {at.address}, write it into the boot configuration; the "
                "interface can stay up. If it is the other, follow Oracle's procedure for a new private address "
                "(MOS 283684.1).",
                _commands([at], (f"ipv{6 if ':' in at.address else 4}.addresses", at.address)),
                f"root on {at.node}",
                is_change=True,
            ),
        ],
        evidence=_places([at]),
        network=at.network.name,
        nodes=[at.node],
        extent=(1, "interfaces"),
        observed=[state(OTHER_ADDRESS.code, at.node, at.network.name, at.interface.name, at.address)],
    )


def _start_remedy(same: Sequence[AtBoot]) -> NextStep:
    return NextStep(
        "Ask whether it is meant to stay down. If not, let the network service bring it up at boot; the interface can "
        "stay up.",
        _commands(same, ("connection.autoconnect", "yes")),
        f"root on {named((at.node for at in same), 'node')}",
        is_change=True,
    )


def _commands(same: Sequence[AtBoot], setting: tuple[str, ...]) -> tuple[str, ...]:
    kept = [at.kept for at in same if at.kept and at.kept.network_service in _NM and at.kept.connection]
    return tuple(
        dict.fromkeys(
            shell("nmcli connection modify {connection} {setting}", connection=of.connection, setting=setting)
            for of in kept
        )
    )


def _look(same: Sequence[AtBoot]) -> NextStep:
    commands = [
        shell("cat {file}", file=at.kept.file)
        if at.kept.file
        else shell("nmcli -f connection,ipv4,ipv6 connection show {connection}", connection=at.kept.connection)
        for at in same
        if at.kept and (at.kept.file or at.kept.connection)
    ]
    user = "root" if any(at.kept and at.kept.file for at in same) else "any user"
    where = f"{user} on {named((at.node for at in same), 'node')}"
    return NextStep("Display the boot configuration.", tuple(dict.fromkeys(commands)), where)


def _left(kind: Kind, found: Sequence[AtBoot], title: str, brief: str) -> Iterator[Finding]:
    for same in alike(found, lambda at: at.network.name):
        yield kind.finding(
            title.format(named((at.name for at in same), "interface")),
            subject=f"{briefly((at.name for at in same), 'interface')}: {brief}",
            data={"interfaces": len(same)},
            seen=some([_line(at) for at in same]),
            evidence=_places(same),
            network=same[0].network.name,
            nodes=[at.node for at in same],
        )


def _in_place(same: Sequence[AtBoot]) -> Finding:
    nodes, network = list(dict.fromkeys(at.node for at in same)), same[0].network
    return IN_PLACE.finding(
        f"The interfaces of {named(nodes, 'node')} on {network.name} come up at the next boot with their present "
        "addresses.",
        subject=f"{network.name} at boot",
        seen=some([_line(at) for at in same]),
        evidence=_places(same),
        network=network.name,
        observed=read_on(IN_PLACE.code, nodes, network.name),
    )


def _line(at: AtBoot) -> str:
    kept = at.kept
    if kept is None:
        return f"{at.node}: {at.interface.name} is in no file"
    known = () if isinstance(kept.addresses, Unknown) else kept.addresses
    has = listed((*known, *(["an address by DHCP"] if kept.is_by_dhcp else []))) or "no address"
    runs = f" runs with {at.address};" if at.address else ""
    parts = [_start(at).value, *([has] if at.address else [])]
    return f"{at.node}: {at.interface.name}{runs} {kept.file or kept.connection}: {', '.join(filter(None, parts))}"


def _places(same: Sequence[AtBoot]) -> list[tuple[str, str]]:
    return [(node, topic) for node in dict.fromkeys(at.node for at in same) for topic in ("interfaces", "boot files")]
