"""Commands that set or remove the MTU of an interface in the boot configuration of each network service.

An MTU of None removes the setting. Then the kernel's default of 1500 applies; a bond member takes the MTU of its bond,
and a VLAN the MTU of its parent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from checks.change.plan.change_plan import Layer
from checks.model.facts import NetworkService
from checks.model.shell_command import plain, shell
from checks.model.wording import listed

Lines = tuple[str, ...]
_IFCFG = "/etc/sysconfig/network-scripts"
_WICKED = "/etc/sysconfig/network"
_NETWORKD = "/etc/systemd/network"
_DROP_IN = "zz-racwire-mtu.conf"
"""Drop-ins are read in the order of their names, and the last one decides (systemd.network(5))."""
_NETPLAN = {"bond": "bonds", "team": "bonds", "vlan": "vlans", "bridge": "bridges"}


def network_manager(layer: Layer, mtu: int | None) -> Lines:
    """Return the `nmcli connection modify` line: nmcli writes the keyfile, or the ifcfg file of the connection.

    An MTU of 0 means that the connection sets none (nm-settings-nmcli(5), 802-3-ethernet.mtu; also for bonds and
    VLANs).
    """
    name = layer.connection or PurePosixPath(layer.file).name.removesuffix(".nmconnection") or layer.interface
    key = "infiniband.mtu" if layer.kind == "infiniband" else "802-3-ethernet.mtu"
    return (shell("nmcli connection modify {name} {key} {mtu}", name=name, key=key, mtu=mtu or 0),)


def ifcfg_network_manager(layer: Layer, mtu: int | None) -> Lines:
    """Return the nmcli line if the connection's name is known; else edit the file and make NetworkManager load it."""
    if layer.connection:
        return network_manager(layer, mtu)
    file = layer.file or f"{_IFCFG}/ifcfg-{layer.interface}"
    return (_assign(file, mtu), shell("nmcli connection load {file}", file=file))


def ifcfg(layer: Layer, mtu: int | None) -> Lines:
    """Return the line that sets `MTU=` in the file that the network service reads (sysconfig.txt of initscripts)."""
    return (_assign(layer.file or f"{_IFCFG}/ifcfg-{layer.interface}", mtu),)


def wicked(layer: Layer, mtu: int | None) -> Lines:
    """Return the line that sets `MTU=` in the ifcfg file of SUSE (ifcfg(5))."""
    return (_assign(layer.file or f"{_WICKED}/ifcfg-{layer.interface}", mtu),)


def networkd(layer: Layer, mtu: int | None) -> Lines:
    """Return lines that write a drop-in of racwire's own: the .network file itself stays unchanged.

    If a .link or .netdev file sets the MTU, the lines change that file instead.
    """
    file = PurePosixPath(layer.file or f"{_NETWORKD}/10-{layer.interface}.network")
    if file.suffix in (".link", ".netdev"):
        return (_replace_mtu_bytes(str(file), mtu),)
    directory = file.parent.name if file.parent.name.endswith(".d") else f"{file.name}.d"
    drop_in = f"{_NETWORKD}/{directory}/{_DROP_IN}"
    if mtu is None or (mtu == layer.kept_before and str(file) != drop_in):
        return (shell("rm -f {file}", file=drop_in),)
    return (
        shell("mkdir -p -m 755 {directory}", directory=f"{_NETWORKD}/{directory}"),
        shell(r"printf '%s\n' '[Link]' MTUBytes={mtu} > {file}", mtu=mtu, file=drop_in),
        shell("chmod 644 {file}", file=drop_in),
    )


def netplan(layer: Layer, mtu: int | None) -> Lines:
    """Return the `netplan set` line (netplan 0.101 or later): netplan changes the YAML file of the interface."""
    section = _NETPLAN.get(layer.kind, "ethernets")
    key = plain(layer.connection or layer.interface, "name").replace(".", r"\.")
    return (shell("netplan set {setting}", setting=f"{section}.{key}.mtu={'null' if mtu is None else mtu}"),)


def _assign(file: str, mtu: int | None) -> str:
    """Return one sed command that leaves one MTU= line at the end of the file, or none; running it twice is safe."""
    if mtu is None:
        return shell("sed -i -e '/^[[:space:]]*MTU=/d' {file}", file=file)
    return shell("sed -i -e '$aMTU={mtu}' -e '/^[[:space:]]*MTU=/d' {file}", mtu=mtu, file=file)


def _replace_mtu_bytes(file: str, mtu: int | None) -> str:
    if mtu is None:
        return shell("sed -i -e '/^[[:space:]]*MTUBytes=.*/d' {file}", file=file)
    return shell("sed -i -e 's/^[[:space:]]*MTUBytes=.*/MTUBytes={mtu}/' {file}", mtu=mtu, file=file)


_LINES: dict[str, Callable[[Layer, int | None], tuple[str, ...]]] = {
    NetworkService.NETWORK_MANAGER: network_manager,
    NetworkService.IFCFG_NETWORK_MANAGER: ifcfg_network_manager,
    NetworkService.IFCFG: ifcfg,
    NetworkService.NETWORKD: networkd,
    NetworkService.NETPLAN: netplan,
    NetworkService.WICKED: wicked,
}
_AT_THE_END: dict[str, str] = {NetworkService.NETWORKD: "networkctl reload", NetworkService.NETPLAN: "netplan generate"}
_NO_CONNECTION_UP = "Do not run `nmcli connection up`: it is not needed, and it takes the link down for a moment"
_NOTES: dict[str, str] = {
    NetworkService.NETWORK_MANAGER: _NO_CONNECTION_UP,
    NetworkService.IFCFG_NETWORK_MANAGER: _NO_CONNECTION_UP,
    NetworkService.NETWORKD: "`networkctl reload` needs systemd 244 or later. Skip it with an older systemd: it only "
    "makes the running networkd read the file, and the next boot reads the file anyway",
    NetworkService.NETPLAN: "`netplan set` needs netplan 0.101 or later. With an older netplan, write `mtu:` into the "
    "YAML file by hand",
}


@dataclass(frozen=True)
class Kept:
    """The commands and notes for the boot configuration of one node's layers."""

    lines: tuple[str, ...]
    by_bond: tuple[str, ...]
    """Bond members without a file of their own: at boot they take the MTU of their bond."""
    unknown: tuple[str, ...]
    """Interfaces that no known network service configures."""
    note: str


def kept_lines(layers: Iterable[Layer]) -> Kept:
    """Return lines that make the network services of one node set `mtu_after` at the next boot."""
    return _kept(tuple((layer, layer.mtu_after) for layer in layers))


def restored_lines(layers: Iterable[Layer]) -> Kept:
    """Return lines that restore the boot configuration of one node's layers: no MTU for layers that set none before."""
    return _kept(tuple((layer, layer.kept_before) for layer in layers))


def _kept(wanted: tuple[tuple[Layer, int | None], ...]) -> Kept:
    lines: list[str] = []
    last: list[str] = []
    by_bond: list[str] = []
    unknown: list[str] = []
    for layer, mtu in wanted:
        known = _LINES.get(layer.network_service) or (networkd if layer.file.endswith(".link") else None)
        if known:
            lines += known(layer, mtu)
            last += [_AT_THE_END[layer.network_service]] if layer.network_service in _AT_THE_END else []
        else:
            (by_bond if layer.role == "member" else unknown).append(layer.interface)
    notes = [_NOTES[layer.network_service] for layer, _ in wanted if layer.network_service in _NOTES]
    if by_bond:
        verb = "has" if len(by_bond) == 1 else "have"
        notes.append(f"{listed(by_bond)} {verb} no file that sets an MTU and will take the MTU of the bond at boot")
    return Kept(
        (*lines, *dict.fromkeys(last)),
        tuple(by_bond),
        tuple(unknown),
        ". ".join(dict.fromkeys(notes)),
    )


def in_order(layers: Iterable[Layer]) -> tuple[Layer, ...]:
    """Return one node's layers in the order of setting: lowered layers from top to bottom, then the rest upwards.

    The kernel refuses a VLAN above its parent's MTU ("Numerical result out of range"). Lowering a parent also lowers
    its VLANs: they then get their planned MTU.
    """
    known = tuple(layers)
    down = [layer for layer in known if layer.mtu_after < layer.mtu_before]
    rest = [layer for layer in known if layer.mtu_after >= layer.mtu_before]
    return (
        *sorted(down, key=lambda layer: -layer.level),
        *sorted(rest, key=lambda layer: layer.level),
    )


def set_mtu(interface: str, mtu: int) -> str:
    """Return the line that sets an MTU at once, until the next boot."""
    return shell("ip link set dev {nic} mtu {mtu}", nic=interface, mtu=mtu)


def run_time_lines(layers: Iterable[Layer]) -> tuple[str, ...]:
    """Return one line for each layer of one node. The line acts at once and is lost at the next boot (ip-link(8)).

    Members of a team get no line: the team sets them, and the kernel refuses any other change (team_device_event,
    NETDEV_PRECHANGEMTU).
    """
    known = tuple(layers)
    return tuple(
        set_mtu(layer.interface, layer.mtu_after) for layer in in_order(known) if not _is_set_by_team(layer, known)
    )


def _is_set_by_team(layer: Layer, layers: tuple[Layer, ...]) -> bool:
    above = {
        one.kind for one in layers if one.kind in ("bond", "team") and not {*one.networks}.isdisjoint(layer.networks)
    }
    return layer.role == "member" and above == {"team"}
