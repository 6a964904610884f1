"""How xdist distributes the tests: whole files, so that a process computes while others wait for a practice cluster."""

from __future__ import annotations

import os

from xdist.scheduler.loadscope import LoadScopeScheduling
from xdist.workermanage import WorkerController

LONG = (
    "lab/test_check.py",
    "lab/test_rehearsals.py",
    "lab/test_rehearsals_halfway.py",
    "lab/test_drill.py",
    "lab/test_events.py",
    "lab/test_database_check.py",
    "lab/test_measure_sizes.py",
)
"""The files that take longest: they start first."""

READ_THE_SOURCE = (
    "unit/test_absolute_words.py",
    "unit/test_docs.py",
    "unit/test_house.py",
    "unit/test_nothing_else_starts.py",
    "unit/test_printed_commands.py",
    "unit/test_registry.py",
    "unit/test_vocabulary.py",
)
"""Files that run in one process, so that it parses the source once."""

_SOURCE = "the source"


class Scheduling(LoadScopeScheduling):
    """Gives each process whole files. As many processes as there are processors run files that compute; the others run
    files that mostly wait for a practice cluster."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return _SOURCE if file.endswith(READ_THE_SOURCE) else file

    def _assign_work_unit(self, node: WorkerController) -> None:
        in_lab = sum(
            any(_waits(scope) and not all(tests.values()) for scope, tests in units.items())
            for other, units in self.assigned_work.items()
            if other is not node
        )
        wants_lab = in_lab < max(1, self.numnodes - (os.cpu_count() or 1))
        fitting = [scope for scope in self.workqueue if _waits(scope) is wants_lab]
        if fitting:
            first = next((scope for scope in fitting if scope.endswith(LONG)), fitting[0])
            self.workqueue.move_to_end(first, last=False)
        super()._assign_work_unit(node)


def _waits(scope: str) -> bool:
    return scope.startswith(("tests/lab/", "tests/lab_own/"))
