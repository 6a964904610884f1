"""The faults in the setup of a node: routes, kernel settings, NICs, and other users of a private network.

They are made on the node itself. What the kernel of the practice cluster cannot do, a NIC with another speed or with
rings, the node's own files and its `ethtool` answer.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from racwire_lab.cluster.fault_kind import ActiveFault, Fault, of_nic, of_node
from racwire_lab.cluster.networks import Network
from racwire_lab.cluster.nic_faults import NIC_FAULTS
from racwire_lab.cluster.nics import Nic
from racwire_lab.cluster.port_queues import is_shaped
from racwire_lab.cluster.processes import LabJob, Process, into
from racwire_lab.cluster.routing_faults import HAIP_ROUTE_MTU, ROUTING_FAULTS, haip_route_steps, routing_steps
from racwire_lab.cluster.ssh_configuration import node_home
from racwire_lab.cluster.topology import NFS_PORT, PortId, Shape, index_of

_POLICY_MTU, _POLICY_TABLE = 1400, 70
_RING, _RING_MOST = 256, 4096
_USB_ADDRESS = "169.254.95.120/24"
"""The address of the USB interface of a management controller (MOS 1629814.1 shows 169.254.95.118 and 120)."""
_STRANGER = Path(__file__).parents[1] / "programs" / "stranger.py"
_MOUNTED = ("speed", "duplex")
_UNSHAPED_MBPS, _SLOW_MBPS = 10_000, 1000
"""The speed that the kernel shows for its own links; and a lower one."""
_UNSHAPED = (str(_UNSHAPED_MBPS), "full")


HOST_FAULTS = (
    *NIC_FAULTS,
    *ROUTING_FAULTS,
    of_nic(
        "haip-route-mtu",
        "The route of one node for the HAIP addresses of a private network has MTU 1400.",
        f"Replaces the kernel's route for the addresses of HAIP by one with `mtu {HAIP_ROUTE_MTU}`: the node cuts "
        "blocks into fragments, although its NIC has another MTU.",
    ),
    of_nic(
        "route-over-private",
        "The default route of one node leads over a private network.",
        "Adds a default route with a gateway in the private subnet, as a gateway in the file of the private interface "
        "does.",
    ),
    of_node(
        "forwarding",
        "One node forwards packets between its networks.",
        "Sets net.ipv4.ip_forward to 1.",
    ),
    of_node(
        "strict-rp-filter",
        "rp_filter is strict on all interfaces of one node.",
        "Sets net.ipv4.conf.all.rp_filter to 1: the kernel drops packets that arrive on another interface than the "
        "answer would leave by. With all networks up it drops none.",
    ),
    of_node(
        "foreign-169-254",
        "The USB interface of a management controller has an address in the range of HAIP.",
        f"Adds the interface usb0 with the address {_USB_ADDRESS} to the node.",
    ),
    of_nic(
        "stranger-traffic",
        "Another host copies files over a private network.",
        f"A connection to port {NFS_PORT} (NFS) of the node carries 3 MB/s from the next node over the private "
        "network.",
    ),
    of_nic(
        "speed-differs",
        "One private NIC negotiated a lower speed than its peers.",
        "The node's /sys shows 1000 Mbit/s for the NIC, where the others show 10000; with --rate, a tenth of a lower "
        "rate. The traffic is not slower.",
    ),
    Fault(
        "slow-interconnect",
        "The private NICs of the nodes are slower together than the public one.",
        "The /sys of each node shows 1000 Mbit/s for its private NICs, or with --rate a tenth of a lower rate, and "
        "the usual speed for eth0.",
        "cluster",
        default_node=None,
        default_network=None,
    ),
    of_nic(
        "policy-mtu",
        "A policy rule of one node leads to a route with MTU 1400 for one private network.",
        "Adds a rule for packets from the NIC's address to the private subnet, and a table whose route there has MTU "
        "1400. The main table does not show it.",
    ),
    of_nic(
        "duplex-half",
        "One private NIC negotiated half duplex.",
        "The node's /sys shows half duplex for the NIC. The kernel's own links have no duplex, so no packet is lost.",
    ),
    of_nic(
        "small-rings",
        "The receive ring of one private NIC is smaller than it can be.",
        f"`ethtool -g` on the node shows {_RING} of {_RING_MOST} entries for the NIC, and {_RING_MOST} for all others. "
        "The kernel's own links have no rings, so no packet is lost.",
    ),
)
"""The faults in the setup of a node, in the order of `racwire lab faults`."""


@dataclass(frozen=True)
class HostState:
    """The desired setup of one node."""

    forwards: bool = False
    strict: bool = False
    routes: tuple[tuple[str, str], ...] = ()
    """`ip` commands that make a fault, each with the one that ends it."""
    settings: tuple[tuple[str, str, str], ...] = ()
    """Settings of the kernel below net/ipv4: the path, the value, and the value without the fault."""
    haip_routes: tuple[tuple[str, str], ...] = ()
    """The same for routes that exist only while Clusterware runs."""
    links: tuple[tuple[str, str, str], ...] = ()
    """NICs with another speed or duplex: name, speed in Mbit/s, duplex."""
    rings: tuple[tuple[str, int], ...] = ()
    """The receive ring of each private NIC, where the nodes have ethtool."""
    copies: tuple[tuple[str, str], ...] = ()
    """Copies over a private network: role (`serve` or `send`) and the address of the server."""


def host_state(shape: Shape, node: str, nics: Mapping[PortId, Nic], broken: frozenset[ActiveFault]) -> HostState:
    """Return the desired setup of a node with these faults."""

    def has(fault: str, network: Network) -> bool:
        return ActiveFault(fault, node, network.number) in broken

    own = [(network, nics[PortId(node, network.number)]) for network in shape.private_networks]
    routes = [_default(network, nic) for network, nic in own if has("route-over-private", network)]
    routes += [step for network, nic in own if has("policy-mtu", network) for step in _policy(network, nic)]
    routes += routing_steps(shape, node, nics, broken)
    is_slow = ActiveFault("slow-interconnect", None, None) in broken
    if ActiveFault("foreign-169-254", node, None) in broken:
        routes += _usb()
    has_rings = any(fault.fault == "small-rings" for fault in broken)
    return HostState(
        forwards=ActiveFault("forwarding", node, None) in broken,
        strict=ActiveFault("strict-rp-filter", node, None) in broken,
        routes=tuple(routes),
        settings=tuple((f"conf/{nic.name}/arp_ignore", "8", "0") for network, nic in own if has("arp-ignore", network)),
        haip_routes=tuple(haip_route_steps(shape, node, nics, broken)),
        links=tuple(
            (nics[PortId(node, network.number)].name, *link)
            for network in shape.networks
            if (
                link := _link(
                    shape.rate_mbps if is_shaped(network) else 0,
                    (is_slow and network.private) or has("speed-differs", network),
                    has("duplex-half", network),
                )
            )
            != _UNSHAPED
        ),
        rings=tuple((nic.name, _RING if has("small-rings", network) else _RING_MOST) for network, nic in own)
        if has_rings
        else (),
        copies=tuple(_copies(shape, node, nics, broken)),
    )


def _link(rate_mbps: int, is_slow: bool, is_half: bool) -> tuple[str, str]:
    mbps = rate_mbps or _UNSHAPED_MBPS
    slow = _SLOW_MBPS if mbps > _SLOW_MBPS else mbps // 10
    return str(slow if is_slow else mbps), "half" if is_half else "full"


def _default(network: Network, nic: Nic) -> tuple[str, str]:
    gateway = f"{nic.address.rpartition('.')[0]}.254"
    route = f"default via {gateway} dev {nic.name} metric {100 + network.number}"
    return f"route replace {route}", f"route del {route}"


def _policy(network: Network, nic: Nic) -> list[tuple[str, str]]:
    """A table of its own, and a rule that leads there."""
    source = nic.address.partition("/")[0]
    table, rule = _POLICY_TABLE + network.number, f"from {source} to {network.cidr}"
    return [
        (
            f"route add {network.cidr} dev {nic.name} src {source} mtu {_POLICY_MTU} table {table}",
            f"route flush table {table}",
        ),
        (f"rule add {rule} table {table}", f"rule del {rule} table {table}"),
    ]


def _usb() -> list[tuple[str, str]]:
    return [
        ("link add usb0 type veth peer name usb0-bmc", "link del usb0"),
        ("link set usb0-bmc up", ""),
        ("link set usb0 up", ""),
        (f"address add {_USB_ADDRESS} brd + dev usb0", ""),
    ]


def _copies(
    shape: Shape, node: str, nics: Mapping[PortId, Nic], broken: frozenset[ActiveFault]
) -> Iterable[tuple[str, str]]:
    for fault in sorted(broken, key=str):
        if fault.fault == "stranger-traffic" and fault.node and fault.network:
            server = nics[PortId(fault.node, fault.network)].address.partition("/")[0]
            if fault.node == node:
                yield "serve", server
            elif index_of(node) == index_of(fault.node) % shape.size + 1:
                yield "send", server


@dataclass(frozen=True)
class HostChange:
    """The change of one node's setup."""

    directory: Path
    node: str
    holder: Process
    rootless: bool
    before: HostState
    after: HostState

    def ended(self, *, has_haip: bool) -> list[LabJob]:
        """Return the jobs that end faults; they run before the NICs change."""
        ended = [step for step in reversed(self.before.routes) if step not in self.after.routes]
        ended += [step for step in self.before.haip_routes if has_haip and step not in self.after.haip_routes]
        # A route or an address can be gone already: the kernel drops them with a link, or an address.
        jobs = self._ip([off for _, off in ended if off], "sh", "-c", "ip -force -batch - 2>/dev/null || true")
        jobs += self._sh(
            [
                _setting(path, usual)
                for path, value, usual in self.before.settings
                if (path, value, usual) not in self.after.settings
            ]
        )
        kept = {name for name, *_ in self.after.links}
        for name in (name for name, *_ in self.before.links if name not in kept):
            self._write_link(name, *_UNSHAPED)
        for copy in set(self.before.copies) - set(self.after.copies):
            self._copy_file(copy).unlink(missing_ok=True)
        return jobs

    def made(self, *, has_haip: bool) -> list[LabJob]:
        """Return the jobs that make faults; they run after the NICs have changed."""
        made = [step for step in self.after.routes if step not in self.before.routes]
        made += [step for step in self.after.haip_routes if has_haip and step not in self.before.haip_routes]
        jobs = self._ip([on for on, _ in made])
        settings = []
        if self.before.forwards != self.after.forwards:
            settings.append(f"echo {int(self.after.forwards)} >/proc/sys/net/ipv4/ip_forward")
        if self.before.strict != self.after.strict:
            settings.append(f"echo {int(self.after.strict)} >/proc/sys/net/ipv4/conf/all/rp_filter")
        settings += [
            _setting(path, value)
            for path, value, usual in self.after.settings
            if (path, value, usual) not in self.before.settings
        ]
        for link in self.after.links:
            if link not in self.before.links:
                settings += self._mounts(*link)
        jobs += self._sh(settings)
        for copy in self.after.copies:
            if copy not in self.before.copies:
                jobs.append(self._copier(copy))
        return jobs

    def _ip(self, lines: list[str], *command: str) -> list[LabJob]:
        argv = [*into(self.holder, "net", rootless=self.rootless), *(command or ("ip", "-batch", "-"))]
        text = "".join(f"{line}\n" for line in lines)
        return [LabJob(argv, text, f"change the routes of {self.node}")] if lines else []

    def _sh(self, commands: list[str]) -> list[LabJob]:
        argv = [*into(self.holder, "mount", "net", rootless=self.rootless), "sh", "-e", "-c", "\n".join(commands)]
        return [LabJob(argv, "", f"change the settings of {self.node}")] if commands else []

    def _write_link(self, name: str, *values: str) -> list[tuple[str, str]]:
        """Write the files that hide those of the kernel; return each with its value."""
        files = []
        for file, value in zip(_MOUNTED, values, strict=True):
            own = node_home(self.directory, self.node) / f"{name}.{file}"
            own.write_text(f"{value}\n", encoding="ascii")
            files.append((str(own), value))
        return files

    def _mounts(self, name: str, speed: str, duplex: str) -> list[str]:
        """A file that hides the kernel's stays until the node ends: later it only changes its content."""
        commands = []
        for file, (own, value) in zip(_MOUNTED, self._write_link(name, speed, duplex), strict=True):
            place = f"/sys/class/net/{shlex.quote(name)}/{file}"
            commands.append(f'[ "$(cat {place})" = {value} ] || mount -n --bind {shlex.quote(own)} {place}')
        return commands

    def _copy_file(self, copy: tuple[str, str]) -> Path:
        return node_home(self.directory, self.node) / f"copy-{copy[0]}-{copy[1]}"

    def _copier(self, copy: tuple[str, str]) -> LabJob:
        """The process runs in the background, as long as its file exists."""
        file = self._copy_file(copy)
        file.touch()
        role, server = copy
        words = [sys.executable, "-I", "-S", str(_STRANGER), role, server, str(NFS_PORT), str(file)]
        text = f"{shlex.join(words)} </dev/null >/dev/null 2>&1 &"
        argv = [*into(self.holder, "mount", "net", "pid", rootless=self.rootless), "sh", "-c", text]
        return LabJob(argv, "", f"start a copy on {self.node}")


def _setting(path: str, value: str) -> str:
    return f"echo {value} >/proc/sys/net/ipv4/{path}"


def write_rings(directory: Path, hosts: Mapping[str, HostState]) -> None:
    """Write the rings that `ethtool` of each node shows; without a fault that needs them, it shows none."""
    for node, host in hosts.items():
        for old in node_home(directory, node).glob("*.ring"):
            old.unlink()
        for name, entries in host.rings:
            text = f"{entries} {_RING_MOST}\n"
            (node_home(directory, node) / f"{name}.ring").write_text(text, encoding="ascii")
