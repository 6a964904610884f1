"""The network services of practice nodes and their files, as text: nothing is read or written here.

Each service has the files that an installer writes. They contain an MTU only where it is not the default.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable

from racwire_lab.cluster.nics import Nic
from racwire_lab.cluster.topology import STANDARD_MTU

_CONNECTIONS = uuid.UUID("6f1f1b0e-6f0c-4a53-9d0a-6b1d5b2f7f10")
"""The namespace of the UUIDs of connections: each connection of each node always has the same UUID."""

_KEYFILE = """\
[connection]
id={name}
uuid={uuid}
type=ethernet
interface-name={name}

[ethernet]
{mtu}
[ipv4]
address1={address}
method=manual

[ipv6]
addr-gen-mode=default
method=disabled

[proxy]
"""

_IFCFG = """\
TYPE=Ethernet
BOOTPROTO=none
DEFROUTE=no
IPV6INIT=no
NM_CONTROLLED=no
NAME={name}
DEVICE={name}
ONBOOT=yes
IPADDR={ip}
PREFIX={prefix}
{mtu}"""

_IFCFG_LO = """\
DEVICE=lo
IPADDR=127.0.0.1
NETMASK=255.0.0.0
NETWORK=127.0.0.0
BROADCAST=127.255.255.255
ONBOOT=yes
NAME=loopback
"""

_NETWORKD = """\
[Match]
Name={name}

{mtu}[Network]
Address={address}
LinkLocalAddressing=no
"""


def files(service: str, node: str, nics: Iterable[Nic]) -> dict[str, str]:
    """Return the files of a node's network service: their text by their path below /etc."""
    found = {"sysconfig/network-scripts/ifcfg-lo": _IFCFG_LO} if service == "ifcfg" else {}
    for nic in nics:
        ip, _, prefix = nic.address.partition("/")
        values = {"name": nic.name, "address": nic.address, "ip": ip, "prefix": prefix}
        mtu = "" if nic.mtu == STANDARD_MTU else str(nic.mtu)
        if service == "keyfile":
            values["uuid"] = str(uuid.uuid5(_CONNECTIONS, f"{node}/{nic.name}"))
            text, line = _KEYFILE, "mtu={}\n"
        elif service == "ifcfg":
            text, line = _IFCFG, "MTU={}\n"
        else:
            text, line = _NETWORKD, "[Link]\nMTUBytes={}\n\n"
        found[file_of(service, nic.name)] = text.format(**values, mtu=line.format(mtu) if mtu else "")
    return found


def file_of(service: str, nic: str) -> str:
    """Return the path below /etc of the file in which a network service keeps a NIC."""
    names = {"keyfile": f"{nic}.nmconnection", "ifcfg": f"ifcfg-{nic}", "networkd": f"10-{nic}.network"}
    return f"{DIRECTORIES[('keyfile', 'ifcfg', 'networkd').index(service)]}/{names[service]}"


DIRECTORIES = ("NetworkManager/system-connections", "sysconfig/network-scripts", "systemd/network")
"""Directories of the services' files, below /etc."""


def renamed(text: str, before: str, after: str) -> str:
    """Replace an interface name by another one in a text or in the name of a file."""
    return re.sub(rf"(?<![A-Za-z0-9]){re.escape(before)}(?![A-Za-z0-9])", after, text)
