"""How each keeper is told which MTU an interface has after the next boot, and how it is told none.

None takes the setting away: then the kernel's own 1500 holds, the bond's for its members, the parent's for a VLAN.
"""

from __future__ import annotations

import shlex
from pathlib import PurePosixPath

from checks.change.change_plan import Layer

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
