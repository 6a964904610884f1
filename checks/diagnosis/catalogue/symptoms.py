"""What causes lead to at their place: groups of findings about packets that do not arrive."""

from __future__ import annotations

LOSES_SOME = ("IC-PATH-005", "IC-PATH-012", "IC-REASM-002", "IC-FLOW-005", "IC-HAIP-002")
"""Packets of any size are lost now and then."""
LOSES_FULL_SIZE = ("IC-PATH-003", "IC-REASM-002", "IC-FLOW-002", "IC-FLOW-005", "IC-FLOW-008", "IC-HAIP-002")
"""Full-size packets are lost, and small ones pass."""
LOSES_ALL = (
    "IC-PATH-005", "IC-PATH-006", "IC-PATH-007", "IC-PATH-031", "IC-FLOW-002", "IC-FLOW-003", "IC-FLOW-004",
    "IC-FLOW-005", "IC-FLOW-006", "IC-FLOW-008", "IC-FLOW-013", "IC-FILTER-002", "IC-HAIP-002",
)  # fmt: skip
"""No packet arrives, or those of one of two flows in turn."""
