"""What cannot be a private network, a peer or any text of the settings: a sentence for the operator. No I/O."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable

from checks.settings import Settings

_HOST = re.compile(r"\w[\w.:%@/+-]{0,254}")
"""A name, an address, `user@host` or `ssh://host:port`: nothing that ssh, a ProxyCommand or a shell could run."""
_SHOWN = 60


def mistakes(settings: Settings) -> Iterable[tuple[str, str]]:
    """The name of each setting whose value cannot be meant, and what is wrong with it."""
    cluster, ssh = settings.cluster, settings.ssh
    for network in cluster.networks:
        if wrong := _wrong_network(network):
            yield "networks", f"{_shown(network)} {wrong}"
    for peer in cluster.peers:
        if not _HOST.fullmatch(peer):
            yield "peers", f"{_shown(peer)} is no host name; write it as for ssh, such as rac2."
    for name, text in (
        ("grid_home", cluster.grid_home),
        ("config_file", ssh.config_file),
        ("user", ssh.user),
    ):
        if text and not text.isprintable():
            yield name, f"{_shown(text)} has control characters in it."


def _wrong_network(text: str) -> str:
    """Why racwire cannot look for a private network there; nothing when it can."""
    try:
        network = ipaddress.ip_network(text)
    except ValueError:
        try:
            meant = ipaddress.ip_interface(text).network
        except ValueError:
            return "is no subnet; write it with its prefix length, such as 192.168.10.0/24."
        return f"is an address within a subnet; the subnet is {meant}."
    if network.prefixlen == 0:
        return "is every network there is; name the private one, such as 192.168.10.0/24."
    if network.is_loopback or network.is_multicast or network.is_link_local:
        return "is no network between nodes; HAIP, loopback and multicast addresses are not named here."
    return ""


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")
