"""The largest MTU between the machines of a cloud: by the cloud and, on Azure, by the driver of each NIC.

What a cloud carries is the vendor's statement: racwire cannot read it there. An operator who knows better accepts the
obstacle, and the step prove-paths tests the paths.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from checks.change.plan.layers import networks_of
from checks.model.facts import Cluster, HostSetup, Port, PrivateNetwork
from checks.model.networks import nics_of
from checks.model.wording import listed

_AZURE, _EC2, _GOOGLE, _ORACLE = "Microsoft Azure", "Amazon EC2", "Google Cloud", "Oracle Cloud"
_BY_CLOUD = {_EC2: 9001, _GOOGLE: 8896, _ORACLE: 9000}
"""Bytes between two machines of one network (Amazon EC2 User Guide, network_mtu: inside a VPC; Google Cloud: VPC,
Maximum transmission unit: the largest that a VPC can be set to; Oracle Cloud: Hanging Connection, Overview of MTU)."""
CLOUDS = frozenset({_AZURE, *_BY_CLOUD})
"""The clouds whose limit is known."""
_SYNTHETIC = "hv_netvsc"
_ACCELERATED = {"mana": 9000, "mlx5_core": 3900, "mlx4_core": 3900}
"""Bytes on Azure by the driver of the virtual function (Microsoft: Configure MTU for virtual machines in Azure, of
2024-07-22: Mellanox Cx3 to Cx5 3900; Microsoft Azure Network Adapter 9000, as a preview)."""
_AZURE_DEFAULT = 1500
"""What Azure gives every NIC (same page); it names no larger MTU for a NIC without Accelerated Networking."""
_PREVIEW = "Microsoft called this MTU a preview on 2024-07-22"
_IN_VPC = {
    _EC2: "inside one VPC; 1500 through gateways and VPN, 1300 in Outposts and Wavelength Zones",
    _GOOGLE: "where the VPC is set to it: the default is 1460, and machines take a new MTU when they start",
}
"""What the limit of a cloud depends on (same pages)."""


@dataclass(frozen=True, order=True)
class CloudLimit:
    """The largest MTU that a cloud carries for the NICs of a private network."""

    mtu: int
    network: str
    platform: str
    nics: tuple[str, ...]
    """The NICs with this limit: `eth1 of rac2`."""
    condition: str
    """What the limit depends on; empty where nothing is known."""

    @property
    def sentence(self) -> str:
        """The limit, for the remarks of a plan."""
        condition = f" ({self.condition})" if self.condition else ""
        return (
            f"{self.network} runs on {self.platform}, which carries at most {self.mtu} bytes for "
            f"{listed(self.nics)}{condition}."
        )


def cloud_limits(cluster: Cluster) -> tuple[CloudLimit, ...]:
    """Return the limit of each private network with a port in a cloud: the lowest of all its ports."""
    return tuple(limit for network in networks_of(cluster) if (limit := _of_network(cluster, network)))


def _of_network(cluster: Cluster, network: PrivateNetwork) -> CloudLimit | None:
    found = list(_of_ports(cluster, network))
    lowest = min(found, default=None)
    if lowest is None:
        return None
    same = [limit for limit in found if (limit.mtu, limit.condition) == (lowest.mtu, lowest.condition)]
    nics = tuple(dict.fromkeys(nic for limit in same for nic in limit.nics))
    return CloudLimit(lowest.mtu, network.name, lowest.platform, nics, lowest.condition)


def _of_ports(cluster: Cluster, network: PrivateNetwork) -> Iterator[CloudLimit]:
    for port in network.ports:
        setup = cluster.setup(port.node)
        platform = setup.platform if setup else ""
        place = (f"{port.interface} of {port.node}",)
        if platform == _AZURE:
            drivers = setup.host.drivers_in_use if setup and isinstance(setup.host, HostSetup) else {}
            mtu, condition = _on_azure(cluster, port, drivers)
            yield CloudLimit(mtu, network.name, platform, place, condition)
        elif platform in _BY_CLOUD:
            yield CloudLimit(_BY_CLOUD[platform], network.name, platform, place, _IN_VPC.get(platform, ""))


def _on_azure(cluster: Cluster, port: Port, drivers: dict[str, str]) -> tuple[int, str]:
    """Return the limit of a port, and what it depends on: a virtual function below the NIC carries its packets."""
    names = dict.fromkeys((*nics_of(cluster, port), port.interface))
    own = [driver for name in names if (driver := drivers.get(name))]
    functions = [driver for driver in own if driver in _ACCELERATED]
    if functions:
        driver = min(functions, key=lambda name: _ACCELERATED[name])
        return _ACCELERATED[driver], f"driver {driver}" + (f"; {_PREVIEW}" if driver == "mana" else "")
    if _SYNTHETIC in own:
        return _AZURE_DEFAULT, f"driver {_SYNTHETIC} without Accelerated Networking: no larger MTU is documented"
    lowest = min(_ACCELERATED.values())
    return lowest, "the driver is not known; with Accelerated Networking at least this MTU passes"
