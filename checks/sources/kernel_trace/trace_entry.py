"""The registry's entry for the trace of dropped packets, its limits, and the text of its program."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from checks.sources.entries import Read, RegistryEntry, RunsOn

MOST_S = 10
"""Seconds for which a kernel is watched at most."""
MOST_EVENTS_A_SECOND = 5_000
BUFFER_KB = 1024
"""The memory of the instance, for all CPUs together; two pages of each CPU at least."""
TRACE_RIGHT = "root, and tracefs mounted"
KERNEL_TRACE = RegistryEntry(
    name="kernel trace",
    groups=("investigation",),
    where=RunsOn.NODES,
    purpose="why the kernel drops packets of IP and ARP, only as a step of racwire investigate to which you consent: "
    f"at most {MOST_S} s, {MOST_EVENTS_A_SECOND:,} events a second and {BUFFER_KB} kB; a process of its own switches "
    "it off",
    reads=(
        Read(
            "kernel drops",
            "a tracing instance",
            "mkdir /sys/kernel/tracing/instances/racwire-TOKEN; events skb:kfree_skb (IP, ARP), and of racwire's own "
            "size net:netif_receive_skb and net:net_dev_queue of the private NICs; its trace, once at the end; rmdir",
            TRACE_RIGHT,
        ),
    ),
)


@cache
def program_text() -> str:
    """Return the text of the program."""
    return files(__package__).joinpath("drops.sh").read_text(encoding="ascii")


@cache
def watchdog_text() -> str:
    """Return the text of the process that switches the program's events off."""
    return files(__package__).joinpath("watchdog.sh").read_text(encoding="ascii")
