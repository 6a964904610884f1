"""Which policy rule selects the routing table of a packet: the lines of `ip rule show`, ip-rule(8)."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from itertools import pairwise

from checks.model.facts import RouteInUse

_NARROWER = frozenset({"not", "fwmark", "iif", "oif", "uidrange", "ipproto", "sport", "dport", "tos", "dsfield"})
"""Selectors of packets that `ip route get` does not ask for."""
_REFUSES = frozenset({"unreachable", "prohibit", "blackhole"})


def rule_for(rules: Sequence[str], route: RouteInUse) -> str:
    """Return the first rule that selects the table of a route in use, or that refuses its packets; empty where the
    rules that were read do not tell."""
    for rule in rules:
        words = rule.split()
        table = _after("lookup", words)
        fits = _holds("from", route.source_ip, words) and _holds("to", route.destination_ip, words)
        refuses = bool(route.refusal) and not _REFUSES.isdisjoint(words)
        if fits and not is_for_some(rule) and (refuses or (table and table == (route.table or table))):
            return rule
    return ""


def is_for_some(rule: str) -> bool:
    """Return whether a rule is for some packets only, by a mark, a port or a user, which `ip route get` does not
    show."""
    words = rule.split()
    return not _NARROWER.isdisjoint(words) and not ("iif" in words and _after("iif", words) == "lo")


def _holds(key: str, ip: str, words: Sequence[str]) -> bool:
    value = _after(key, words)
    try:
        return value in ("", "all") or ipaddress.ip_address(ip) in ipaddress.ip_network(value, strict=False)
    except ValueError:
        return False


def _after(key: str, words: Sequence[str]) -> str:
    return next((value for word, value in pairwise(words) if word == key), "")
