"""A rollback from every step of a change, on one cluster of three nodes: afterwards it is as before the change.

`pytest -s` prints the table: the step, the commands of the rollback, its planned minutes, and what differs at its end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.lab.lab_support import needs_namespaces, run
from tests.lab.rehearsal import Rehearsal, waiting

pytestmark = [pytest.mark.lab, needs_namespaces, pytest.mark.beyond_sample]

STEPS = (
    *("agree", "baseline", "backups", "console-access", "switch", "stack-down", "set-mtu", "survives-boot"),
    *("prove-paths", "first-node", "other-nodes", "databases", "interconnect", "compare", "sign-off"),
)
_FILES = "/etc/NetworkManager/system-connections /etc/sysconfig/network-scripts /etc/systemd/network"
_STATE = """
cat /sys/class/net/eth1/mtu /sys/class/net/eth2/mtu
find {files} -type f | sort | while read -r file; do echo "$file"; sed '/^$/d' "$file"; done
{home}/bin/crsctl check crs
{home}/bin/crsctl config crs
{home}/bin/oifcfg getif
{home}/bin/srvctl config database
{home}/bin/srvctl status database -d prac -v
ps -eo args= | grep -o '^[a-z]*_pmon_.*' | sort
"""


@pytest.fixture(scope="module")
def rehearsal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rehearsal]:
    made = Rehearsal(tmp_path_factory.mktemp("rehearsal"), nodes=3, keeper="mixed", database=True, record_s=5)
    yield made
    made.end()


@pytest.fixture(scope="module")
def table() -> Iterator[list[str]]:
    rows = [f"{'rollback from':15} {'printed':>8} {'needed':>8} {'racwire':>8} {'minutes':>9}  ends as before"]
    yield rows
    print("", *rows, sep="\n")


@pytest.mark.parametrize("step", STEPS)
def test_after_a_rollback_from_a_step_the_cluster_is_as_before(rehearsal, table, step):
    """The commands of the step were run, and nobody verified them: racwire has not seen their effect."""
    before = state_of(rehearsal)
    rehearsal.begin(9000)
    while (current := rehearsal.current) != step:
        do(rehearsal, current)
    rehearsal.operate(rehearsal.step())
    started = rehearsal.change("rollback", "--by", "Ann Lee", "--reason", "The window is nearly over.")
    assert started.code == 0, started.err
    steps = rehearsal.change("next", "--all", "--format", "json").document["steps"]
    counted = Followed()
    counted.follow(rehearsal)
    assert rehearsal.report().outcome == "rolled back"
    differs = [where for where, now in state_of(rehearsal).items() if now != before[where]]
    printed = sum(commands_of(each) for each in steps)
    least, most = (sum(each["minutes"][end] for each in steps if each.get("minutes")) for end in ("least", "most"))
    table.append(
        f"{step:15} {printed:8} {counted.lines:8} {counted.racwire:8} {f'{least}-{most}':>9}  "
        f"{'no: ' + ', '.join(differs) if differs else 'yes'}"
    )
    assert differs == []


def state_of(rehearsal: Rehearsal) -> dict[str, str]:
    """Return what each node runs and keeps: MTUs, files, Clusterware, its autostart, oifcfg, databases, services."""
    return {
        node: run(
            rehearsal.lab,
            node,
            "sh",
            "-c",
            _STATE.format(files=_FILES, home=rehearsal.lab.environment(node)["GRID_HOME"]),
        ).stdout
        for node in rehearsal.nodes
    }


def do(rehearsal: Rehearsal, current: str) -> None:
    """Do a step and prove it; without recordings, which take long."""
    step = rehearsal.step()
    if current not in ("baseline", "compare"):
        rehearsal.operate(step)
        rehearsal.prove(step)
    elif not rehearsal.verify()["passed"]:
        result = rehearsal.change("override", "--by", "Ann Lee", "--reason", "A rehearsal without load.")
        assert result.code == 0, result.err


def operate(rehearsal: Rehearsal, step: dict[str, Any]) -> None:
    """Run the commands of a step; a database may be stopped already, as the note of its command says."""
    for block in step["commands"]:
        try:
            rehearsal.operate({**step, "commands": [block]})
        except AssertionError as error:
            if "was already stopped" not in str(error) or "PRCC-1016" not in block["note"]:
                raise


def commands_of(step: dict[str, Any]) -> int:
    """Return the number of command lines of a step that are not optional."""
    return sum(len(block["lines"]) for block in step["commands"] if not block.get("optional"))


class Followed:
    """A rollback as a person follows it, with the number of commands typed."""

    def __init__(self) -> None:
        self.lines = 0
        """The lines of the nodes' commands."""
        self.racwire = 1
        """The commands of racwire, with the one that starts the rollback and prints its plan."""

    def follow(self, rehearsal: Rehearsal) -> None:
        """Verify each step first: what has not been done needs no undoing."""
        while rehearsal.current:
            step = rehearsal.step()
            waits_for_gate = "its gate" in step["waits_for"]
            self.racwire += waits_for_gate + ("an attestation" in step["waits_for"])
            if not (waits_for_gate and rehearsal.verify()["passed"]):
                operate(rehearsal, step)
                self.lines += commands_of(step)
                if waits_for_gate:
                    self._pass(rehearsal)
            rehearsal.attest(step)

    def _pass(self, rehearsal: Rehearsal) -> None:
        """Verify; if the gate does not pass, run what it names: a node that was started after the last verification."""
        self.racwire += 1
        verified = rehearsal.verify()
        if verified["passed"]:
            return
        named: dict[tuple[str, str], None] = {}
        for result in verified["results"]:
            where: re.Match[str] | None = None
            for text in result.get("next", ()):
                if text.endswith((":", ".")):
                    where = re.search(r"\(root on (\S+)\)|on any node", text)
                elif where:
                    named[where[1] or "rac1", text] = None
        for node_name, command in sorted(named, key=lambda one: "srvctl" not in one[1]):  # databases come first
            rehearsal.inside(node_name, [f"{_tools(rehearsal)} {command}"])
        self.lines += len(named)
        self.racwire += 1
        verified = rehearsal.verify()
        assert verified["passed"], waiting(verified)


def _tools(rehearsal: Rehearsal) -> str:
    """The Grid tools of the owner of a database are in the PATH."""
    return f"PATH=$PATH:{rehearsal.lab.environment('rac1')['GRID_HOME']}/bin"
