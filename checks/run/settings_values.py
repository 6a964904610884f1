"""Validation of the settings, with a sentence for each mistake; and the settings as plain data. No I/O."""

from __future__ import annotations

import ipaddress
import math
import re
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any

import msgspec

from checks.model.settings import DatabaseSettings, Settings
from checks.model.settings_waivers import LONGEST_DAYS, Waiver

_HOST = re.compile(r"\w[\w.:%@/+-]{0,254}")
"""A name, an address, `user@host` or `ssh://host:port`: nothing that ssh, a ProxyCommand or a shell could run."""
_WITH_LOGIN = re.compile(r"^[^(]*@|password|pwd|passwd|secret\s*=|token\s*=", re.IGNORECASE)
"""A connect string with a login before the @, or with a parameter that holds a password."""
_QUOTED = re.compile(r'"[^"]*"')
"""A name quoted for SQL, which may contain any character."""
_SID = re.compile(r"[A-Za-z0-9_$#]{1,30}")
_CODE = re.compile(r"[A-Z][A-Z0-9]*(-[A-Z0-9]+)*-\d{3}")
_PASSWORD_PLACES = "at the prompt, in $RACWIRE_DB_PASSWORD or in a password_file"  # noqa: S105 - names places only
_MOST_QUOTED = 60


def as_plain(settings: Settings) -> dict[str, Any]:
    """Return the settings as a report has them, also after JSON: by section, dates as text, tuples as lists."""
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(settings))
    return plain


def mistakes(settings: Settings) -> Iterable[tuple[str, str]]:
    """Yield each setting with an invalid value, as `section.name`, and the mistake."""
    cluster, ssh = settings.cluster, settings.ssh
    for network in cluster.networks:
        if wrong := _wrong_network(network):
            yield "cluster.networks", f"{_quoted(network)} {wrong}"
    for peer in cluster.peers:
        login, _, _ = peer.removeprefix("ssh://").rpartition("@")
        if ":" in login:
            yield (
                "cluster.peers",
                "one seems to contain a password; write only user and host, such as grid@rac2, and let ssh use a key.",
            )
        elif not _HOST.fullmatch(peer):
            yield "cluster.peers", f"{_quoted(peer)} is not a host name; write it as for ssh, such as rac2."
    for name, text in (
        ("cluster.grid_home", cluster.grid_home),
        ("ssh.config_file", ssh.config_file),
        ("ssh.user", ssh.user),
    ):
        if text and not text.isprintable():
            yield name, f"{_quoted(text)} contains control characters."
    yield from _database_mistakes(settings.database)
    yield from _waiver_mistakes(settings.waivers, date.today())


def _waiver_mistakes(waivers: Sequence[Waiver], today: date) -> Iterable[tuple[str, str]]:
    """Yield the mistakes in the waivers, each as `waivers[0].name`."""
    for number, waiver in enumerate(waivers):
        place = f"waivers[{number}]"
        if not _CODE.fullmatch(waiver.code):
            yield f"{place}.code", f"{_quoted(waiver.code)} is not the code of a finding; write it as IC-PATH-003."
        for name in ("subject", "reason", "by"):
            text = getattr(waiver, name)
            if not text.strip() or not text.isprintable():
                yield f"{place}.{name}", "it is empty or contains control characters; write a short text."
        if waiver.extent is not None and not (math.isfinite(waiver.extent) and waiver.extent >= 0):
            yield f"{place}.extent", "it must be a number, 0 or more."
        if (waiver.expires - today).days > LONGEST_DAYS:
            ahead = f"{waiver.expires} is over {LONGEST_DAYS} days ahead"
            yield f"{place}.expires", f"{ahead}; choose an earlier day, and review the waiver then."
        if any((waiver.code, waiver.subject) == (other.code, other.subject) for other in waivers[:number]):
            yield (
                f"{place}.subject",
                f"{waiver.code} of {_quoted(waiver.subject)} is waived twice; remove one of the two.",
            )


def _database_mistakes(database: DatabaseSettings) -> Iterable[tuple[str, str]]:
    """Yield the mistakes in the database settings. A text that may contain a password is never repeated."""
    if _WITH_LOGIN.search(database.connect):
        yield (
            "database.connect",
            "it seems to contain a user or a password; write only the address of the database (rac-scan:1521/prod), "
            f"the user in `user`, and the password {_PASSWORD_PLACES}.",
        )
    elif not database.connect.isprintable() or database.connect.strip() != database.connect:
        yield (
            "database.connect",
            "it contains control characters or surrounding blanks; write it as rac-scan:1521/prod.",
        )
    if "/" in _QUOTED.sub("", database.user):
        yield (
            "database.user",
            f"it seems to contain a password; write only the name, and the password {_PASSWORD_PLACES}.",
        )
    elif not database.user.isprintable():
        yield "database.user", f"{_quoted(database.user)} contains control characters."
    if database.user.upper() == "SYS" and not database.sysdba:
        yield "database.user", "SYS can only log in as SYSDBA: also set sysdba, or use a user with fewer privileges."
    if database.os_authentication and database.connect:
        yield (
            "database.os_authentication",
            "it logs in to the instance of this node, without a listener; leave connect empty.",
        )
    if database.oracle_sid and not _SID.fullmatch(database.oracle_sid):
        yield "database.oracle_sid", f"{_quoted(database.oracle_sid)} is not the name of an instance."
    for name in ("password_file", "oracle_home", "tns_admin", "wallet"):
        text = getattr(database, name)
        if text and not text.isprintable():
            yield f"database.{name}", f"{_quoted(text)} contains control characters."


def _wrong_network(text: str) -> str:
    """Return the mistake in a subnet, after its text; empty where it is valid."""
    try:
        network = ipaddress.ip_network(text)
    except ValueError:
        try:
            subnet = ipaddress.ip_interface(text).network
        except ValueError:
            return "is not a subnet; write it with its prefix length, such as 192.168.10.0/24."
        return f"is an address within a subnet; the subnet is {subnet}."
    if network.prefixlen == 0:
        return "includes every network; specify the private one, such as 192.168.10.0/24."
    if network.is_loopback or network.is_multicast or network.is_link_local:
        return "is not a network between nodes; do not specify HAIP, loopback or multicast addresses here."
    return ""


def _quoted(text: str) -> str:
    return repr(text if len(text) <= _MOST_QUOTED else f"{text[:_MOST_QUOTED]}…")
