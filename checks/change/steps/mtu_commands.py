"""How each keeper is told which MTU an interface has after the next boot, and how it is told none.

None takes the setting away: then the kernel's own 1500 holds, the bond's for its members, the parent's for a VLAN.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from checks.change.change_plan import Layer
from checks.model.facts import Keeper
from checks.model.wording import listed

Lines = tuple[str, ...]
_IFCFG = "/etc/sysconfig/network-scripts"
_WICKED = "/etc/sysconfig/network"
_NETWORKD = "/etc/systemd/network"
_DROP_IN = "zz-racwire-mtu.conf"
"""Drop-ins are read in the order of their names, and the last one decides (systemd.network(5))."""
_ASSIGNED = "/^[[:space:]]*MTU=/d"
_NETPLAN = {"bond": "bonds", "team": "bonds", "vlan": "vlans", "bridge": "bridges"}


def network_manager(layer: Layer, mtu: int | None) -> Lines:
    """`nmcli connection modify`: it writes the keyfile, or the ifcfg file that the connection came from.

    0 means that the connection sets none (nm-settings-nmcli(5), 802-3-ethernet.mtu; also of bonds and VLANs).
    """
    name = layer.connection or PurePosixPath(layer.file).name.removesuffix(".nmconnection") or layer.interface
    key = "infiniband.mtu" if layer.kind == "infiniband" else "802-3-ethernet.mtu"
    return (shlex.join(("nmcli", "connection", "modify", name, key, str(mtu or 0))),)


def ifcfg_network_manager(layer: Layer, mtu: int | None) -> Lines:
    """By nmcli where the connection's name is known, else in the file, which NetworkManager is told to read again."""
    if layer.connection:
        return network_manager(layer, mtu)
    file = layer.file or f"{_IFCFG}/ifcfg-{layer.interface}"
    return (_assign(file, mtu), shlex.join(("nmcli", "connection", "load", file)))


def ifcfg(layer: Layer, mtu: int | None) -> Lines:
    """`MTU=` in the file that the network service reads (sysconfig.txt of initscripts)."""
    return (_assign(layer.file or f"{_IFCFG}/ifcfg-{layer.interface}", mtu),)


def wicked(layer: Layer, mtu: int | None) -> Lines:
    """`MTU=` in SUSE's file (ifcfg(5))."""
    return (_assign(layer.file or f"{_WICKED}/ifcfg-{layer.interface}", mtu),)


def networkd(layer: Layer, mtu: int | None) -> Lines:
    """A drop-in of our own beside the .network file, so that the file stays as its owner wrote it.

    Where a .link or .netdev file sets the MTU, it is changed in that file.
    """
    file = PurePosixPath(layer.file or f"{_NETWORKD}/10-{layer.interface}.network")
    if file.suffix in (".link", ".netdev"):
        return (_replace_mtu_bytes(str(file), mtu),)
    directory = file.parent.name if file.parent.name.endswith(".d") else f"{file.name}.d"
    drop_in = f"{_NETWORKD}/{directory}/{_DROP_IN}"
    if mtu is None or (mtu == layer.kept_before and str(file) != drop_in):
        return (shlex.join(("rm", "-f", drop_in)),)
    return (
        shlex.join(("mkdir", "-p", "-m", "755", f"{_NETWORKD}/{directory}")),
        f"printf '%s\\n' '[Link]' MTUBytes={mtu} > {shlex.quote(drop_in)}",
        shlex.join(("chmod", "644", drop_in)),
    )


def netplan(layer: Layer, mtu: int | None) -> Lines:
    """`netplan set`, from netplan 0.101 on: it changes the YAML file that holds the interface."""
    section = _NETPLAN.get(layer.kind, "ethernets")
    key = (layer.connection or layer.interface).replace(".", r"\.")
    return (shlex.join(("netplan", "set", f"{section}.{key}.mtu={'null' if mtu is None else mtu}")),)


def _assign(file: str, mtu: int | None) -> str:
    """One sed that leaves exactly one MTU= in the file, at its end, or none; given again it changes nothing."""
    scripts = (_ASSIGNED,) if mtu is None else (f"$aMTU={mtu}", _ASSIGNED)
    return shlex.join(("sed", "-i", *(word for script in scripts for word in ("-e", script)), file))


def _replace_mtu_bytes(file: str, mtu: int | None) -> str:
    pattern = r"^[[:space:]]*MTUBytes=.*"
    script = f"/{pattern}/d" if mtu is None else f"s/{pattern}/MTUBytes={mtu}/"
    return shlex.join(("sed", "-i", "-e", script, file))


_LINES: dict[str, Callable[[Layer, int | None], tuple[str, ...]]] = {
    Keeper.NETWORK_MANAGER: network_manager,
    Keeper.IFCFG_NETWORK_MANAGER: ifcfg_network_manager,
    Keeper.IFCFG: ifcfg,
    Keeper.NETWORKD: networkd,
    Keeper.NETPLAN: netplan,
    Keeper.WICKED: wicked,
}
_AT_THE_END: dict[str, str] = {Keeper.NETWORKD: "networkctl reload", Keeper.NETPLAN: "netplan generate"}
_WHY_NO_MORE: dict[str, str] = {
    Keeper.NETWORK_MANAGER: "`nmcli connection up` is not needed for it, and would take the link down for a moment",
    Keeper.IFCFG_NETWORK_MANAGER: "`nmcli connection up` is not needed for it, and would take the link down for a "
    "moment",
    Keeper.NETWORKD: "`networkctl reload` needs systemd 244, and only has the running networkd know the file: with an "
    "older one leave it out, the boot needs nothing more",
    Keeper.NETPLAN: "`netplan set` needs netplan 0.101; with an older one write mtu: into the YAML file by hand",
}


@dataclass(frozen=True)
class Kept:
    """What is to be done so that the layers of one node keep their MTU."""

    lines: tuple[str, ...]
    by_bond: tuple[str, ...]
    """Members without a file of their own: at boot they take the MTU of their bond."""
    unknown: tuple[str, ...]
    """Interfaces of which nothing is known that keeps them."""
    note: str


def kept_lines(layers: Iterable[Layer]) -> Kept:
    """Lines that have the keepers set `mtu_after` at the next boot, for the layers of one node."""
    return _kept(tuple((layer, layer.mtu_after) for layer in layers))


def restored_lines(layers: Iterable[Layer]) -> Kept:
    """Lines that have the keepers set what they set before: nothing, where they set none."""
    return _kept(tuple((layer, layer.kept_before) for layer in layers))


def _kept(wanted: tuple[tuple[Layer, int | None], ...]) -> Kept:
    lines: list[str] = []
    last: list[str] = []
    by_bond: list[str] = []
    unknown: list[str] = []
    for layer, mtu in wanted:
        known = _LINES.get(layer.keeper) or (networkd if layer.file.endswith(".link") else None)
        if known:
            lines += known(layer, mtu)
            last += [_AT_THE_END[layer.keeper]] if layer.keeper in _AT_THE_END else []
        else:
            (by_bond if layer.role == "member" else unknown).append(layer.interface)
    notes = [_WHY_NO_MORE[layer.keeper] for layer, _ in wanted if layer.keeper in _WHY_NO_MORE]
    if by_bond:
        verb = "has" if len(by_bond) == 1 else "have"
        notes.append(f"{listed(by_bond)} {verb} no file that sets an MTU and will take the bond's at boot")
    return Kept(
        (*lines, *dict.fromkeys(last)),
        tuple(by_bond),
        tuple(unknown),
        "; ".join(dict.fromkeys(notes)),
    )


def in_order(layers: Iterable[Layer]) -> tuple[Layer, ...]:
    """One node's layers as they are to be set: what gets smaller from the top to the bottom, then the rest upwards.

    A VLAN that is raised above its parent is refused ("Numerical result out of range"); a parent that is lowered takes
    its VLANs along, which then are set to what they ought to have.
    """
    known = tuple(layers)
    down = [layer for layer in known if layer.mtu_after < layer.mtu_before]
    rest = [layer for layer in known if layer.mtu_after >= layer.mtu_before]
    return (
        *sorted(down, key=lambda layer: -layer.level),
        *sorted(rest, key=lambda layer: layer.level),
    )


def run_time_lines(layers: Iterable[Layer]) -> tuple[str, ...]:
    """One line for each layer of one node. It acts at once, and is gone after a boot (ip-link(8)).

    None for the members of a team: it sets them itself, and the kernel refuses it to anybody else (team_device_event,
    NETDEV_PRECHANGEMTU).
    """
    known = tuple(layers)
    return tuple(
        shlex.join(("ip", "link", "set", "dev", layer.interface, "mtu", str(layer.mtu_after)))
        for layer in in_order(known)
        if not _is_set_by_team(layer, known)
    )


def _is_set_by_team(layer: Layer, layers: tuple[Layer, ...]) -> bool:
    above = {
        one.kind for one in layers if one.kind in ("bond", "team") and not {*one.networks}.isdisjoint(layer.networks)
    }
    return layer.role == "member" and above == {"team"}
