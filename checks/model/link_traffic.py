"""Who fills a private link, as data. `checks.rules.link_users` computes it from the counters of an interval."""

from __future__ import annotations

from enum import StrEnum

from checks.model.facts import Fact, Unknown


class LinkUser(StrEnum):
    """The kind of a user of a link."""

    DATABASE = "database"
    """Blocks and messages of the connected database, and parallel query where its bytes are known: what the instances
    counted, with the headers of their packets."""
    STORAGE = "storage"
    """TCP connections at a known port of storage, backup or copying: what the node's kernel counted of each."""
    CONNECTION = "connection"
    """Other TCP connections, counted likewise."""
    NOT_KNOWN = "not known"
    """The rest of the bytes: UDP of other programs and of other databases, and what `LinkTraffic.unread` names."""


class LinkShare(Fact, frozen=True, kw_only=True):
    """The part of one user in the bytes of a link."""

    user: LinkUser
    name: str = ""
    """The database; the service of a known port."""
    remote_ip: str = ""
    """The other end of TCP connections."""
    port: int | None = None
    is_own_port: bool = False
    """Whether the port is the node's; else it is that of the other end."""
    connections: int = 0
    bytes_per_s: float
    percent: float
    """Of the bytes of the link in this direction: all shares of a link add up to 100."""


class LinkTraffic(Fact, frozen=True, kw_only=True):
    """One private link of a node in its busier direction, and who uses it."""

    node: str
    nics: tuple[str, ...]
    """One NIC; several where a bond or a bridge divides the packets of its addresses among them."""
    receives: bool
    """Whether it is the traffic that the node receives; else what it sends."""
    as_of: str
    """The end of the interval."""
    seconds: float
    bytes_per_s: float
    """As the NICs count them: with the Ethernet header."""
    percent_of_speed: float
    shares: tuple[LinkShare, ...]
    """The largest first, NOT_KNOWN last and always there."""
    unread: tuple[Unknown, ...] = ()
    """What could not be read of the users: their bytes are in NOT_KNOWN."""
    unclaimed_per_s: float = 0.0
    """Datagrams that the node received for ports where no program listens, on all of its NICs (Udp.NoPorts)."""
