"""Make the HTML report of a large cluster with many problems: `python -m bench.programs.page_cost NODES FINDINGS
SECONDS`.

Prints JSON: the bytes of the page, and the seconds for the first page of a process, imports included.
"""

from __future__ import annotations

import json
import sys
import time

from checks.report.report_evidence import Evidence
from tests.fixtures.large import large_report, large_track


def main() -> None:
    """Measure and print."""
    nodes, findings, seconds = map(int, sys.argv[1:])
    evidence = Evidence(large_report(nodes, findings), large_track(nodes, seconds))
    started = time.perf_counter()
    from checks.report.html.html_page import to_html

    page = to_html(evidence)
    print(json.dumps({"bytes": len(page), "seconds": time.perf_counter() - started}))


if __name__ == "__main__":
    main()
