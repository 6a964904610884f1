"""The dry run of guided troubleshooting, `racwire plan investigate`: what its automatic steps send and read."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from checks.model.fragment_memory import FRAGMENT_SHARE
from checks.model.settings import Settings
from checks.run.counter_signs import READABLE
from checks.sources.entries import Program
from checks.sources.kernel_files import CLOSED_PORTS, COUNTERS, UDP_ENDS
from checks.sources.kernel_trace.trace_entry import KERNEL_TRACE, program_text, watchdog_text
from checks.sources.probes import counted_rows
from checks.sources.probes.cluster_turn import SENDING
from checks.sources.registry import STEP_PACKETS, sources


def plan_investigation(settings: Settings) -> Iterator[str]:
    """Yield what a session of guided troubleshooting sends and reads by itself, line by line."""
    budget = settings.investigate
    per_cut = counted_rows.CUT_PER_SECOND
    yield from (
        "",
        "racwire investigate, racwire check --deep: the reads of the checks and of the live samples, listed above.",
        f"Then, {STEP_PACKETS.where}, {STEP_PACKETS.purpose}:",
        *(f"  {read.how}" for read in STEP_PACKETS.reads),
        f"  at most {budget.datagrams:,} of both and {budget.seconds:g} s of sending in a session "
        "(investigate.datagrams, investigate.seconds)",
        f"  at most {counted_rows.PER_SECOND} datagrams a second, or {counted_rows.PER_SECOND // 2} pings, on all "
        "nodes together: one sender, one network and one receiver at a time,",
        f"    in rows of at most {counted_rows.MOST_AT_ONCE}, after which the receiver's count is read",
        f"  one racwire of the cluster sends at a time (the abstract socket @{SENDING}, which measurements have, too); "
        "the others wait",
        "  sizes from 84 bytes to the MTU of the sender, Don't Fragment set, from up to 32 source ports",
        f"  in fragments: at most {per_cut} datagrams a second to one receiver, and no more than may be missing at one",
        f"    time and fill {FRAGMENT_SHARE:.0%} of its memory for reassembly; none where over "
        f"{counted_rows.STOP_SHARE:.0%} of this memory is in use by any program",
        f"  to a port below ip_local_port_range that no socket and no service has: one of "
        f"{', '.join(map(str, CLOSED_PORTS))}",
        "  a peer runs, through the open connection, for one row at a time:",
        f"    {shlex.join(['timeout', '-s', 'INT', '5', 'python3', '-E', '-s', '-S', '-c', 'TEXT'])} 0:0:0:1 "
        "FROM,TO,PORT,AT:SLOT:SOURCEPORT:BYTES:DF/...,NODE:MOST:",
        "  where TEXT is checks/sources/probes/udp_sender.py",
    )
    for program in (UDP_ENDS, *(one for one in sources("investigation") if isinstance(one, Program))):
        yield f"  {program.where}, {program.purpose}:"
        lines = program.action_on(*program.example).splitlines() if program.example else [r.how for r in program.reads]
        yield from (f"    {line}" for line in lines)
    trace = KERNEL_TRACE.reads[0]
    yield from (
        f"  {KERNEL_TRACE.where}, {KERNEL_TRACE.purpose}:",
        f"    {trace.how}",
        f"    needs {trace.right}; the program, and the process that switches it off, in full:",
        *(f"      {line}" for line in f"{program_text()}\n{watchdog_text()}".splitlines()),
    )
    names = sorted(name for names in READABLE.values() for name in names)
    yield from (
        f"  {COUNTERS.where} and on this node, twice, for steps that read counters ({', '.join(names)}):",
        *(f"    {line}" for line in COUNTERS.action_on(*COUNTERS.example).splitlines()),
        "It stops at the first sign of harm: lost blocks, datagrams without room in a receive buffer or in the memory",
        "for UDP, or packets dropped before the network stack, above three times the mean of the last ten minutes;",
        f"CPUs over {settings.measure.most_cpu_percent:g} % (measure.most_cpu_percent); a private path that is silent "
        "for a tenth of misscount.",
        "Losses of its own datagrams are results.",
        "What a person runs by a step is printed before, and never run by racwire.",
    )
