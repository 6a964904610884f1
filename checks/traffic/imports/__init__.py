"""Results of other tools, read beside racwire's own recordings: Swingbench, HammerDB, iperf3 and sadf."""

from checks.traffic.imports.load import load_result

__all__ = ["load_result"]
