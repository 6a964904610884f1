"""Facts of what a node would be after its next boot, of what Oracle runs on it now, and of what limits its MTU."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from checks.model.facts.base import Fact, Unknown


class Keeper(StrEnum):
    """What brings an interface up at boot, and so keeps its MTU."""

    NETWORK_MANAGER = "NetworkManager"
    """A connection in NetworkManager's own form (keyfile)."""
    IFCFG_NETWORK_MANAGER = "ifcfg, read by NetworkManager"
    IFCFG = "ifcfg, read by the network service"
    NETWORKD = "systemd-networkd"
    NETPLAN = "netplan"
    """YAML from which files for systemd-networkd or NetworkManager are made at boot."""
    WICKED = "wicked"
    UNKNOWN = "unknown"


class KeptMtu(Fact, frozen=True):
    """What one node's files say of one interface at its next boot."""

    interface: str
    keeper: Keeper
    file: str = ""
    """The file that says it; empty where only the keeper itself was asked."""
    connection: str = ""
    """NetworkManager's name of the connection (`connection.id`); the section or key in other files."""
    mtu: int | Unknown | None = None
    """None where it is not set: then the kernel's default (1500), the parent's or the bond's holds."""
    kind: str = ""
    """`ethernet`, `bond`, `vlan`, `bridge`, `infiniband`, as far as the file says it."""


class FragileMtu(Fact, frozen=True):
    """An MTU set beside the keeper: by a script or a udev rule, before or after it, and unknown to it."""

    interface: str
    """Empty where the line names none, or a pattern."""
    file: str
    line: str
    """The line as it stands there."""
    mtu: int | None = None


class LldpNeighbour(Fact, frozen=True):
    """The switch port at the other end of a cable, as it announces itself (IEEE 802.1AB)."""

    interface: str
    switch: str = ""
    description: str = ""
    """The switch's own description: model and software."""
    port: str = ""
    max_frame_bytes: int | Unknown = Unknown("the switch does not announce it")
    """IEEE 802.3 maximum frame size: MTU and 18 bytes, 22 with a VLAN tag."""


class NodeSetup(Fact, frozen=True):
    """One node's setup. What could not be read as this user stands in `limits`, a sentence each."""

    name: str
    boot_id: str | Unknown = Unknown("not read")
    """The kernel's name of this boot: another one means that the node was booted since."""
    booted_at: str | Unknown = Unknown("not read")
    """ISO 8601, in UTC."""
    taken_at_s: float = 0.0
    """The node's own clock when it was read, in seconds since 1970."""
    grid_home: str | Unknown = Unknown("not read")
    daemons: tuple[str, ...] | Unknown = Unknown("not read")
    """Those of Clusterware that run, sorted: `crsd.bin`, `evmd.bin`, `gipcd.bin`, `gpnpd.bin`, `ocssd.bin`,
    `ohasd.bin`, ..."""
    instances: tuple[str, ...] | Unknown = Unknown("not read")
    """Instances that run, by the names of their PMON processes, sorted: `+ASM1`, `prod1`."""
    autostart: bool | Unknown = Unknown("not read")
    """Whether Clusterware starts at boot (`crsctl config crs`; else ohasdstr, where it keeps that)."""
    services: tuple[str, ...] | Unknown = Unknown("not read")
    """The lines of `crsctl check crs` on this node: `CRS-4638: Oracle High Availability Services is online`, ..."""
    keepers: tuple[Keeper, ...] = ()
    """Those that are active on the node."""
    kept: tuple[KeptMtu, ...] | Unknown = Unknown("not read")
    """What is configured, for every interface that some file or connection is about."""
    fragile: tuple[FragileMtu, ...] = ()
    platform: str = ""
    """`Microsoft Azure`, `Amazon EC2`, `Google Cloud`, `Oracle Cloud`, `Oracle Engineered System`, else empty."""
    infiniband_modes: dict[str, str] = msgspec.field(default_factory=dict)
    """`datagram` or `connected`, for each IPoIB interface."""
    lldp: tuple[LldpNeighbour, ...] | Unknown = Unknown("not read")
    clients_by: tuple[str, ...] = ()
    """The local addresses that ssh logins are on now, from their connections to port 22."""
    limits: tuple[str, ...] = ()

    def kept_mtu(self, interface: str) -> KeptMtu | None:
        """What is configured for that interface."""
        return (
            None if isinstance(self.kept, Unknown) else next((k for k in self.kept if k.interface == interface), None)
        )

    @property
    def is_down(self) -> bool | None:
        """Whether nothing of Oracle's cluster runs here; None where that is not known."""
        if isinstance(self.daemons, Unknown) or isinstance(self.instances, Unknown):
            return None
        return not self.daemons and not self.instances
