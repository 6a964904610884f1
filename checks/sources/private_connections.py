"""The registry's entry for the TCP connections at private addresses: which address and port moves the bytes."""

from __future__ import annotations

from checks.sources.entries import ADDRESS, Argument, Program, Read, RunsOn
from checks.sources.sh_text import program

MOST_CONNECTIONS = 2000
"""Most connections whose lines are read."""
_LIMIT_S = 3
_SS = "ss -t -i -n state established"
# `ss` wants an IPv6 address in brackets. The kernel compares the addresses: other connections are not printed.
_FILTER = 'all=; for a in "$@"; do case $a in *:*) a="[$a]" ;; esac; all="$all${all:+ or }src $a"; done'

PRIVATE_TCP = Program(
    name="private connections",
    groups=("counters",),
    where=RunsOn.NODES,
    purpose="the bytes of the TCP connections at private addresses, by address and port: who fills a link",
    text=program(
        {"connections": f'{_FILTER}; timeout {_LIMIT_S} {_SS} "( $all )" | head -n {2 * MOST_CONNECTIONS + 1}'}
    ),
    arguments=(Argument(ADDRESS.name, ADDRESS.pattern, is_many=True),),
    example=("192.168.10.1", "192.168.11.1"),
    reads=(Read("private connections", "TCP connections at private addresses", f"{_SS} src ADDRESS"),),
    sections={"private connections": ("connections",)},
    limit_s=10.0,
)
"""Runs at both ends of the interval of the kernels' counters."""
