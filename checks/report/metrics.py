"""The metrics of a report: their names, labels and meanings, which stay as they are; more can come.

All are gauges, in base units: seconds, bytes, ratios, where a name ends in one of these. An instance stands in the
label `db_instance`, since Prometheus has a label `instance` of its own.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Metric(NamedTuple):
    """A line of the table."""

    name: str
    labels: tuple[str, ...]
    help: str
    """One sentence."""

    @property
    def unit(self) -> str:
        """The base unit that its name ends in; empty where it counts, or tells a rate."""
        last = self.name.rpartition("_")[2]
        return last if last in ("seconds", "bytes", "ratio") else ""


_TABLE = """
racwire_info{version,cluster,node} The racwire that looked, at which cluster and from which node; always 1.
racwire_run_timestamp_seconds When the cluster was looked at: the beginning of the run, in Unix time.
racwire_run_duration_seconds How long the run took.
racwire_run_exit_code 0 pass, 1 warnings, 2 failures, 3 could not tell, 130 interrupted.
racwire_saved 1 where this was saved and is told again: the state is that of the run, not of now; else 0.
racwire_findings{status} Findings of each status, without those that are waived.
racwire_findings_waived{status} Findings of each status that are waived.
racwire_finding{code,check,status,network,nodes,waived} Problems: how many of this code and place there are.
racwire_waiver{code,check,subject,standing} Waivers: in_force, expired, lifted, not_needed or not_checked.
racwire_check_exit_code{check} As racwire_run_exit_code, of one check alone; absent where it was left out.
racwire_unknown{what,reason} What is not known: how many of them, and the sort of reason.
racwire_network_mtu_bytes{network} What a private network is meant to carry.
racwire_interface_mtu_bytes{node,interface,network} The MTU of a private interface.
racwire_path_expected_mtu_bytes{network,from,to} The packet that ought to pass between two nodes.
racwire_path_mtu_bytes{network,from,to} The largest packet that was found to pass between two nodes.
racwire_path_verdict{network,from,to,verdict} How a path treats full-size packets; always 1.
racwire_path_loss_ratio{network,from,to,size} Small or full-size pings that were not answered, of those sent.
racwire_path_rtt_seconds{network,from,to,size} The median round trip of small or full-size pings.
racwire_probe_sent_packets Packets that the run sent over the private networks to probe them.
racwire_probe_sent_bytes Bytes of these packets.
racwire_node_interval_seconds{node} The time over which a node's kernel counters are told.
racwire_node_reassembly_failures_per_second{node} Packets that a node could not put together.
racwire_node_reassembly_failure_ratio{node} Such failures, of the fragments that arrived.
racwire_node_udp_receive_buffer_errors_per_second{node} Datagrams thrown away for want of room in a receive buffer.
racwire_instance_interval_seconds{db_instance,node} The time over which an instance's counters are told.
racwire_instance_blocks_received_per_second{db_instance,node} Blocks that an instance received from others.
racwire_instance_blocks_lost_per_second{db_instance,node} Blocks that were sent to an instance and never came.
racwire_instance_blocks_lost_ratio{db_instance,node} Blocks lost, of those received or lost.
racwire_instance_block_receive_seconds{db_instance,node,kind} How long a block took to come on average: cr or current.
"""
_LINE = re.compile(r"(\w+)(?:\{([\w,]+)\})? (.+)")


def _metrics() -> dict[str, Metric]:
    lines = (_LINE.fullmatch(line) for line in _TABLE.strip().splitlines())
    return {m[1]: Metric(m[1], tuple(m[2].split(",")) if m[2] else (), m[3]) for m in lines if m}


METRICS = _metrics()
"""By name, in the order in which they are written."""
