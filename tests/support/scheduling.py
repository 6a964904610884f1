"""How xdist distributes the tests: whole files, so that a process computes while others wait for a practice cluster."""

from __future__ import annotations

import os

import pytest
from xdist.scheduler.loadscope import LoadScopeScheduling
from xdist.workermanage import WorkerController, parse_tx_spec_config

LONG = (
    "lab/test_check.py",
    "lab/test_rehearsals.py",
    "lab/test_rehearsals_halfway.py",
    "lab/test_drill.py",
    "lab/test_events.py",
    "lab/test_database_check.py",
    "lab/test_measure_sizes.py",
    "lab_own/test_lab_stack.py",
    "lab_own/test_lab_database.py",
    "lab_own/test_lab_cluster.py",
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


COMPUTING = (os.cpu_count() or 1) + 1
"""Processes that run any test: one more than processors, since consoles and commands are waited for, too."""
LAB = ("lab", "lab_own")
"""The folders of the tests that mostly wait for a practice cluster."""


def runs_only_lab(worker: str, config: pytest.Config) -> bool:
    """Return whether a process runs only tests of practice clusters: in a run of all tests, those beyond COMPUTING. It
    imports no others, which saves seconds of each."""
    number = int(worker.removeprefix("gw"))
    is_whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    # A process that replaces a crashed one has a higher number, and runs any test.
    return is_whole and COMPUTING <= number < len(parse_tx_spec_config(config))


class Scheduling(LoadScopeScheduling):
    """Gives each process whole files. COMPUTING processes run files that compute; the others run files that mostly wait
    for a practice cluster."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return _SOURCE if file.endswith(READ_THE_SOURCE) else file

    def _check_nodes_have_same_collection(self) -> bool:
        """Put the processes that run any test first, and compare these: the first has the tests to distribute."""
        every = self.registered_collections
        self.registered_collections = {node: tests for node, tests in every.items() if not _only_lab(node)}
        same = super()._check_nodes_have_same_collection()
        self.registered_collections |= every
        return same

    def _assign_work_unit(self, node: WorkerController) -> None:
        in_lab = sum(
            any(_waits(scope) and not all(tests.values()) for scope, tests in units.items())
            for other, units in self.assigned_work.items()
            if other is not node
        )
        wants_lab = _only_lab(node) or in_lab < max(1, self.numnodes - COMPUTING)
        fitting = [scope for scope in self.workqueue if _waits(scope) is wants_lab]
        if fitting:
            first = next((scope for scope in fitting if scope.endswith(LONG)), fitting[0])
            self.workqueue.move_to_end(first, last=False)
        elif _only_lab(node):
            node.shutdown()
            return
        super()._assign_work_unit(node)


def _only_lab(node: WorkerController) -> bool:
    return bool(node.workerinput.get("only_lab"))


def _waits(scope: str) -> bool:
    return scope.startswith(tuple(f"tests/{folder}/" for folder in LAB))
