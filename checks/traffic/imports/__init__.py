"""Reads the results of other tools for comparisons: Swingbench, HammerDB, iperf3 and sadf."""

from checks.traffic.imports.load import load_result

__all__ = ["load_result"]
