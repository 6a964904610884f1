"""Commands that register private networks, and that take an interface of one down and bring it up again."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from checks.change.plan.change_plan import Layer
from checks.change.plan.command_block import Commands, Who
from checks.change.plan.network_change import roles_text
from checks.change.steps.draft import Draft
from checks.model.facts import NetworkService

_BY_CONNECTION = (NetworkService.NETWORK_MANAGER, NetworkService.IFCFG_NETWORK_MANAGER)
_DROP_IN = "zz-racwire-unmanaged.conf"
"""A drop-in of racwire's own: removing it restores the configuration (systemd.network(5))."""
_NETWORKD = "/etc/systemd/network"
_IFCFG = "/etc/sysconfig/network-scripts"


def _as_owner(draft: Draft, what: str, lines: Iterable[str], note: str = "", *, optional: bool = False) -> Commands:
    return Commands(Who.GRID_OWNER, tuple(lines), draft.first, note, draft.grid_owner, purpose=what, optional=optional)


def set_interconnects(draft: Draft, lines: Iterable[str]) -> Commands:
    """Return the commands that register lines of `oifcfg getif`, and print the result.

    Source: Clusterware Administration and Deployment Guide, OIFCFG command reference.
    """
    oifcfg = f"{draft.home(draft.first)}/bin/oifcfg"
    entries = [
        f"{name}/{subnet}:{roles_text(roles.split(','))}" for name, subnet, _, roles in (line.split() for line in lines)
    ]
    return _as_owner(
        draft,
        "once for the cluster",
        (*(shlex.join((oifcfg, "setif", "-global", entry)) for entry in entries), shlex.join((oifcfg, "getif"))),
        "setif prints nothing where it succeeds. It needs Clusterware up on every node: PRIF-33 and PRIF-32 name a "
        "node whose GPnP daemon does not answer.",
    )


def delete_interconnects(draft: Draft, lines: Iterable[str]) -> Commands:
    """Return the commands that delete lines of `oifcfg getif`, and print the result."""
    oifcfg = f"{draft.home(draft.first)}/bin/oifcfg"
    entries = [f"{line.split()[0]}/{line.split()[1]}" for line in lines]
    return _as_owner(
        draft,
        "once for the cluster",
        (*(shlex.join((oifcfg, "delif", "-global", entry)) for entry in entries), shlex.join((oifcfg, "getif"))),
        "Name the subnet too, as printed: without it, delif deletes every line of that interface.",
    )


def add_listeners(draft: Draft, listeners: Iterable[tuple[str, str]]) -> Iterator[Commands]:
    """Yield the commands that add and start listeners of Flex ASM.

    Sources: Real Application Clusters Administration Guide 12.1, srvctl add listener; MOS 283684.1.
    """
    srvctl = f"{draft.home(draft.first)}/bin/srvctl"
    for name, subnet in listeners:
        yield _as_owner(
            draft,
            "for Flex ASM",
            (
                shlex.join((srvctl, "add", "listener", "-listener", name, "-asmlistener", "-subnet", subnet)),
                shlex.join((srvctl, "start", "listener", "-listener", name)),
                shlex.join((srvctl, "config", "listener", "-asmlistener")),
            ),
            "Compare `srvctl config asmnetwork` before and after, where srvctl knows it: if it does not list the new "
            "subnet, ask Oracle Support before you go on.",
        )


def remove_listeners(draft: Draft, listeners: Iterable[tuple[str, str]]) -> Iterator[Commands]:
    """Yield the commands that remove listeners of Flex ASM."""
    srvctl = f"{draft.home(draft.first)}/bin/srvctl"
    for name, _ in listeners:
        yield _as_owner(
            draft,
            "for Flex ASM",
            (
                shlex.join((srvctl, "update", "listener", "-listener", name, "-asm", "-remove", "-force")),
                shlex.join((srvctl, "config", "listener", "-asmlistener")),
            ),
        )


def ask_for_listeners(draft: Draft) -> Commands:
    """Return the command that shows the listeners of Flex ASM, where the plan does not know them."""
    return _as_owner(
        draft,
        "if ASM is Flex ASM",
        (shlex.join((f"{draft.home(draft.first)}/bin/srvctl", "config", "listener", "-asmlistener")),),
        "racwire could not read them. If this prints listeners, the new network needs one: srvctl add listener "
        "-listener NAME -asmlistener -subnet SUBNET.",
        optional=True,
    )


def down(layer: Layer, *, for_good: bool) -> tuple[str, ...]:
    """Return the lines that take an interface down; `for_good` includes the next boot where racwire knows how."""
    name = shlex.quote(layer.interface)
    kept = _at_boot(layer, up=False) if for_good else ()
    if layer.network_service in _BY_CONNECTION and layer.connection:
        return (*kept, shlex.join(("nmcli", "connection", "down", layer.connection)))
    if layer.network_service == NetworkService.IFCFG:
        return (*kept, f"ifdown {name}")
    return (*kept, f"ip link set dev {name} down")


def up(layer: Layer, *, for_good: bool) -> tuple[str, ...]:
    """Return the lines that undo `down`."""
    name = shlex.quote(layer.interface)
    kept = _at_boot(layer, up=True) if for_good else ()
    if layer.network_service in _BY_CONNECTION and layer.connection:
        return (*kept, shlex.join(("nmcli", "connection", "up", layer.connection)))
    if layer.network_service == NetworkService.IFCFG:
        return (*kept, f"ifup {name}")
    again = (f"networkctl reconfigure {name}",) if layer.network_service == NetworkService.NETWORKD else ()
    return (*kept, f"ip link set dev {name} up", *again)


def is_kept(layer: Layer) -> bool:
    """Whether racwire has the lines that keep an interface down at boot."""
    return bool(_at_boot(layer, up=False))


def _at_boot(layer: Layer, *, up: bool) -> tuple[str, ...]:
    """Return the lines that make the network service bring an interface up at boot, or leave it down."""
    if layer.network_service in _BY_CONNECTION and layer.connection:
        return (
            shlex.join(
                ("nmcli", "connection", "modify", layer.connection, "connection.autoconnect", "yes" if up else "no")
            ),
        )
    if layer.network_service == NetworkService.IFCFG:
        ifcfg = layer.file or f"{_IFCFG}/ifcfg-{layer.interface}"
        value = "yes" if up else "no"
        return (shlex.join(("sed", "-i", "-e", f"$aONBOOT={value}", "-e", "/^[[:space:]]*ONBOOT=/d", ifcfg)),)
    if layer.network_service == NetworkService.NETWORKD:
        file = PurePosixPath(layer.file or f"{_NETWORKD}/10-{layer.interface}.network")
        directory = f"{_NETWORKD}/{file.parent.name if file.parent.name.endswith('.d') else f'{file.name}.d'}"
        if up:
            return (shlex.join(("rm", "-f", f"{directory}/{_DROP_IN}")), "networkctl reload")
        return (
            shlex.join(("mkdir", "-p", "-m", "755", directory)),
            f"printf '%s\\n' '[Link]' Unmanaged=yes > {shlex.quote(f'{directory}/{_DROP_IN}')}",
            "networkctl reload",
        )
    return ()


def of_address(layer: Layer, address: str, *, up: bool) -> Commands:
    """Return the commands that add an address to an interface with another private network, or remove it."""
    verb, file = ("add", "Add it to") if up else ("delete", "Remove it from")
    return Commands(
        Who.ROOT,
        (shlex.join(("ip", "address", verb, address, "dev", layer.interface)),),
        layer.node,
        f"{file} {layer.file or 'the files of the network service'} too, by hand: racwire has no command that changes "
        "one address of several.",
    )
