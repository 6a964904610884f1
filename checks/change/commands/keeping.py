"""The MTU after the next boot: the right lines for whatever keeps each layer of a node."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from checks.change.change_plan import Layer
from checks.change.commands import keepers
from checks.model.facts import Keeper
from checks.model.wording import listed

_LINES: dict[str, Callable[[Layer, int | None], tuple[str, ...]]] = {
    Keeper.NETWORK_MANAGER: keepers.network_manager,
    Keeper.IFCFG_NETWORK_MANAGER: keepers.ifcfg_network_manager,
    Keeper.IFCFG: keepers.ifcfg,
    Keeper.NETWORKD: keepers.networkd,
    Keeper.NETPLAN: keepers.netplan,
    Keeper.WICKED: keepers.wicked,
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
        known = _LINES.get(layer.keeper) or (keepers.networkd if layer.file.endswith(".link") else None)
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
