"""Which time a sample tells of: its own, however often the recording that it is in was once said to be sampled.

The interval may be changed while it is recorded. A hole is therefore time that no sample covers, and never a moment at
which none ended.
"""

from __future__ import annotations

from checks.traffic.samples import InstanceSample, LatencySample, NodeSample, PairsSample

Sample = NodeSample | InstanceSample | PairsSample | LatencySample
"""What covers time. A gap covers none, and links are of a moment."""


def overlap_s(sample: Sample, begin: float, end: float) -> float:
    """How many seconds between these two moments the sample covers: it began its `seconds` before it ended."""
    return max(min(sample.at, end) - max(sample.at - sample.seconds, begin), 0.0)
