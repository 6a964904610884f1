"""The registry's entry for the TCP connections at private addresses: which address and port moves the bytes."""

from __future__ import annotations

from checks.sources.entries import ADDRESS, Argument, Program, Read, RunsOn
from checks.sources.sh_text import program

MOST_CONNECTIONS = 1000
"""Most connections whose lines are read."""
HEADING = "Recv-Q"
"""The start of what `ss` prints, also without a connection."""
_LIMIT_S = 3
_SS = "ss -t -i -n state established"
# /proc/net/tcp has the address as one number in the order of the CPU: both orders are looked for. `ss` wants an IPv6
# address in brackets, and the kernel prints no connection of other addresses.
_NAMED = (
    'all=; hex=none; for a in "$@"; do case $a in *:*) a="[$a]"; hex="$hex|[0-9A-F]{32}" ;; '
    "*) w=${a%%.*}; r=${a#*.}; x=${r%%.*}; r=${r#*.}; y=${r%%.*}; z=${r#*.}; "
    'hex="$hex|$(printf \'%02X%02X%02X%02X|%02X%02X%02X%02X\' "$z" "$y" "$x" "$w" "$w" "$x" "$y" "$z")" ;; '
    'esac; all="$all${all:+ or }src $a"; done'
)
# The kernel loads the module tcp_diag for the first ss: a node without such a connection starts none.
_LISTED = 'cat /proc/net/tcp /proc/net/tcp6 | grep -q -E "($hex):[0-9A-F]{4} [0-9A-F]+:[0-9A-F]{4} 01 "'
_PRINTED = f'timeout {_LIMIT_S} {_SS} "( $all )" | head -n {2 * MOST_CONNECTIONS + 1}'

PRIVATE_TCP = Program(
    name="private connections",
    groups=("counters",),
    where=RunsOn.NODES,
    purpose="the bytes of the TCP connections at private addresses, by address and port: who fills a link",
    text=program({"connections": f"{_NAMED}; if {_LISTED}; then {_PRINTED}; else printf '{HEADING}\\n'; fi"}),
    arguments=(Argument(ADDRESS.name, ADDRESS.pattern, is_many=True),),
    example=("192.168.10.1", "192.168.11.1"),
    reads=(
        Read(
            "private connections",
            "TCP connections at private addresses",
            f"{_SS} src ADDRESS, only where /proc/net/tcp or tcp6 lists one",
        ),
    ),
    sections={"private connections": ("connections",)},
    limit_s=10.0,
)
"""Runs at both ends of the interval of the kernels' counters."""
