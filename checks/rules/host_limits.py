"""Rules for the memory, the kernel settings and the processes of a node: each limit with its source."""

from __future__ import annotations

from collections.abc import Sequence

from checks.model.facts import NodeMemory, ScheduledProcess, release

LOOPBACK_MTU = 16_436
"""Bytes: the MTU of lo up to kernel 3.6, and the one that MOS 2041723.1 sets. Larger packets over lo need memory in
larger pieces, which a kernel with little free memory does not have."""
_RESERVE_SHARE = 0.004
"""The share of the memory that MOS 2041723.1 reserves in vm.min_free_kbytes, for each NUMA node."""

_MOST_SHARE, _MOST_OF_AVAILABLE = 0.05, 0.25
"""The most that vm.min_free_kbytes may take at run time: shares of the memory outside huge pages, and of what is
available. The kernel takes the reserve from running processes at once; a node without memory is evicted (Linux kernel
documentation, sysctl/vm: "setting this too high will OOM your machine instantly")."""

BUFFER_MINIMUM = {
    "net.core.rmem_default": 262_144,
    "net.core.rmem_max": 4_194_304,
    "net.core.wmem_default": 262_144,
    "net.core.wmem_max": 1_048_576,
}
"""Bytes, the same from 11.2 to 26ai: Database Installation Guide, minimum parameter settings for installation."""

FRAGMENT_BYTES_PER_CPU = 130_000
"""The amount by which a kernel from 3.9 to 4.13 may misjudge the memory of fragments for each CPU (batch of the per-CPU
counter in include/net/inet_frag.h). Below CPUs x this amount it can drop fragments while memory is free (MOS
2008933.1)."""
_FIRST_BY_CPU, _FIRST_EXACT = (3, 9), (4, 14)
_BACKPORTS = ("2.6.32-504", "2.6.32-573", "2.6.32-642", "2.6.32-696", "2.6.32-754", "3.8.13-")
"""Releases of Oracle Linux 6.6 and later, and of UEK 3, to which the counting for each CPU was ported back."""

_FIRST_WITH_THREADS = (18,)
"""The first release whose LMS runs as several threads, of which one has real-time priority; the first thread shows time
sharing (Oracle's "Noteworthy changes in Oracle RAC 18c and 19c")."""


def reserve_wanted_kb(memory: NodeMemory) -> int:
    """Return the vm.min_free_kbytes that MOS 2041723.1 recommends: 0.4 % of the memory for each NUMA node."""
    return round(_RESERVE_SHARE * memory.total_kb * max(1, memory.numa_nodes))


def reserve_refused(memory: NodeMemory, wanted_kb: int) -> str:
    """Return why a node cannot spare that vm.min_free_kbytes while it runs; empty where it can."""
    if memory.available_kb is None or memory.huge_kb is None:
        return "how much memory is available there is not known"
    usable = memory.total_kb - memory.huge_kb
    if wanted_kb > _MOST_SHARE * usable:
        return (
            f"they are {100 * wanted_kb / max(usable, 1):.0f} % of the {usable:,} KB outside huge pages, and "
            f"{100 * _MOST_SHARE:.0f} % is the most that a running node can spare"
        )
    if wanted_kb > _MOST_OF_AVAILABLE * memory.available_kb:
        return f"they are more than a quarter of the {memory.available_kb:,} KB that are available now"
    return ""


def counts_fragments_by_cpu(kernel_release: str) -> bool:
    """Return whether a kernel counts the memory of fragments for each CPU, and so can misjudge it (MOS 2008933.1)."""
    if kernel_release.startswith(_BACKPORTS):
        return True
    return _FIRST_BY_CPU <= release(kernel_release.partition("-")[0])[:2] < _FIRST_EXACT


def fragment_memory_wanted(cpus: int) -> int:
    """Return the net.ipv4.ipfrag_high_thresh in bytes that a kernel needs that counts for each CPU."""
    return cpus * FRAGMENT_BYTES_PER_CPU


def slow_processes(processes: Sequence[ScheduledProcess], version: tuple[int, ...]) -> tuple[ScheduledProcess, ...]:
    """Return the processes of an instance that lack the real-time priority which each release gives them by default.

    In 11.2 the parameter _high_priority_processes has LMS and VKTM; since 12.1.0.2 it has LMS, and
    _highest_priority_processes VKTM. From 18c on, and where the release is not known, one real-time thread is enough.
    Up to 12.2 the first thread is the process. An LMS whose threads an older version did not read is not judged.
    """
    is_one_thread = bool(version) and version < _FIRST_WITH_THREADS

    def is_slow(process: ScheduledProcess) -> bool:
        if is_one_thread or process.name == "VKTM":
            return not (process.is_first_real_time if is_one_thread else process.is_real_time)
        return not process.is_real_time and process.real_time_threads is not None

    return tuple(p for p in processes if p.name != "LGWR" and not p.name.startswith("LMD") and is_slow(p))


EMULATED = ("e1000", "e1000e", "pcnet32", "8139cp", "8139too", "ne2k-pci", "rtl8139")
"""Drivers of NICs that hypervisors emulate; on a physical machine e1000e is a NIC like others."""
