"""Commands that register private networks, and that take an interface of one down and bring it up again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from checks.change.plan.change_plan import Layer
from checks.change.plan.command_block import Commands, Who
from checks.change.plan.network_change import roles_text
from checks.change.steps.draft import Draft
from checks.model.facts import NetworkService
from checks.model.shell_command import for_each, shell

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
    tool = shell("{home}/bin/oifcfg", home=draft.home(draft.first))
    return _as_owner(
        draft,
        "once for the cluster",
        (*(setting_line(line, tool) for line in lines), " ".join((tool, "getif"))),
        "setif prints nothing where it succeeds. It needs Clusterware up on every node: PRIF-33 and PRIF-32 name a "
        "node whose GPnP daemon does not answer.",
    )


def delete_interconnects(draft: Draft, lines: Iterable[str]) -> Commands:
    """Return the commands that delete lines of `oifcfg getif`, and print the result."""
    tool = shell("{home}/bin/oifcfg", home=draft.home(draft.first))
    return _as_owner(
        draft,
        "once for the cluster",
        (*(deleting_line(line, tool) for line in lines), " ".join((tool, "getif"))),
        "Name the subnet too, as printed: without it, delif deletes every line of that interface.",
    )


def setting_line(line: str, tool: str = "oifcfg") -> str:
    """Return the command that registers a line of `oifcfg getif`. `tool` is oifcfg as it is typed."""
    name, subnet, _, roles = line.split()
    return " ".join((tool, shell("setif -global {entry}", entry=f"{name}/{subnet}:{roles_text(roles.split(','))}")))


def deleting_line(line: str, tool: str = "oifcfg") -> str:
    """Return the command that deletes a line of `oifcfg getif`."""
    name, subnet, *_ = line.split()
    return " ".join((tool, shell("delif -global {entry}", entry=f"{name}/{subnet}")))


_ADD = (
    "{home}/bin/srvctl add listener -listener {name} -asmlistener -subnet {subnet}",
    "{home}/bin/srvctl start listener -listener {name}",
    "{home}/bin/srvctl config listener -asmlistener",
)
_REMOVE = (
    "{home}/bin/srvctl update listener -listener {name} -asm -remove -force",
    "{home}/bin/srvctl config listener -asmlistener",
)


def add_listeners(draft: Draft, listeners: Iterable[tuple[str, str]]) -> Iterator[Commands]:
    """Yield the commands that add and start listeners of Flex ASM.

    Sources: Real Application Clusters Administration Guide 12.1, srvctl add listener; MOS 283684.1.
    """
    home = draft.home(draft.first)
    for name, subnet in listeners:
        yield _as_owner(
            draft,
            "for Flex ASM",
            tuple(shell(script, home=home, name=name, subnet=subnet) for script in _ADD),
            "Compare `srvctl config asmnetwork` before and after, where srvctl knows it: if it does not list the new "
            "subnet, ask Oracle Support before you go on.",
        )


def remove_listeners(draft: Draft, listeners: Iterable[tuple[str, str]]) -> Iterator[Commands]:
    """Yield the commands that remove listeners of Flex ASM."""
    home = draft.home(draft.first)
    for name, _ in listeners:
        yield _as_owner(draft, "for Flex ASM", tuple(shell(script, home=home, name=name) for script in _REMOVE))


def ask_for_listeners(draft: Draft) -> Commands:
    """Return the command that shows the listeners of Flex ASM, where the plan does not know them."""
    return _as_owner(
        draft,
        "if ASM is Flex ASM",
        (shell(_REMOVE[-1], home=draft.home(draft.first)),),
        "racwire could not read them. If this prints listeners, the new network needs one: srvctl add listener "
        "-listener NAME -asmlistener -subnet SUBNET.",
        optional=True,
    )


def down(layer: Layer, *, for_good: bool) -> tuple[str, ...]:
    """Return the lines that take an interface down; `for_good` includes the next boot where racwire knows how."""
    kept = _at_boot(layer, up=False) if for_good else ()
    if layer.network_service in _BY_CONNECTION and layer.connection:
        return (*kept, shell("nmcli connection down {name}", name=layer.connection))
    if layer.network_service == NetworkService.IFCFG:
        return (*kept, shell("ifdown {nic}", nic=layer.interface))
    return (*kept, shell("ip link set dev {nic} down", nic=layer.interface))


def up(layer: Layer, *, for_good: bool) -> tuple[str, ...]:
    """Return the lines that undo `down`."""
    kept = _at_boot(layer, up=True) if for_good else ()
    if layer.network_service in _BY_CONNECTION and layer.connection:
        return (*kept, shell("nmcli connection up {name}", name=layer.connection))
    if layer.network_service == NetworkService.IFCFG:
        return (*kept, shell("ifup {nic}", nic=layer.interface))
    lines = for_each("ip link set dev {nic} up", "networkctl reconfigure {nic}", nic=[layer.interface])
    return (*kept, *(lines if layer.network_service == NetworkService.NETWORKD else lines[:1]))


def is_kept(layer: Layer) -> bool:
    """Whether racwire has the lines that keep an interface down at boot."""
    return bool(_at_boot(layer, up=False))


def _at_boot(layer: Layer, *, up: bool) -> tuple[str, ...]:
    """Return the lines that make the network service bring an interface up at boot, or leave it down."""
    value = "yes" if up else "no"
    if layer.network_service in _BY_CONNECTION and layer.connection:
        script = "nmcli connection modify {name} connection.autoconnect {value}"
        return (shell(script, name=layer.connection, value=value),)
    if layer.network_service == NetworkService.IFCFG:
        ifcfg = layer.file or f"{_IFCFG}/ifcfg-{layer.interface}"
        script = "sed -i -e '$aONBOOT={value}' -e '/^[[:space:]]*ONBOOT=/d' {file}"
        return (shell(script, value=value, file=ifcfg),)
    if layer.network_service == NetworkService.NETWORKD:
        file = PurePosixPath(layer.file or f"{_NETWORKD}/10-{layer.interface}.network")
        directory = f"{_NETWORKD}/{file.parent.name if file.parent.name.endswith('.d') else f'{file.name}.d'}"
        if up:
            return (shell("rm -f {file}", file=f"{directory}/{_DROP_IN}"), "networkctl reload")
        return (
            shell("mkdir -p -m 755 {directory}", directory=directory),
            shell(r"printf '%s\n' '[Link]' Unmanaged=yes > {file}", file=f"{directory}/{_DROP_IN}"),
            "networkctl reload",
        )
    return ()


def of_address(layer: Layer, address: str, *, up: bool) -> Commands:
    """Return the commands that add an address to an interface with another private network, or remove it."""
    script = "ip address add {address} dev {nic}" if up else "ip address delete {address} dev {nic}"
    file = "Add it to" if up else "Remove it from"
    return Commands(
        Who.ROOT,
        (shell(script, address=address, nic=layer.interface),),
        layer.node,
        f"{file} {layer.file or 'the files of the network service'} too, by hand: racwire has no command that changes "
        "one address of several.",
    )
