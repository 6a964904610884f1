"""An experiment from start to end on the practice cluster, as a new user would do it, and its way back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.lab.lab_support import needs_namespaces, run
from tests.lab.node_operator import CommandResult, Operator
from tests.lab.rehearsal import Rehearsal, run_in

pytestmark = [pytest.mark.lab, needs_namespaces, pytest.mark.beyond_sample]

NEW = ("new", "--load", "own", "--users", "12", "--think-time", "0ms", "--for", "8s")
DESPITE = (
    "--despite",
    "IC-CPU-002",
    "--despite",
    "IC-CPU-003",
    "--despite",
    "IC-CPU-004",
    "--reason",
    "a busy machine",
)
BUSY = "The machine of the test was busy with other work."


class Experimenter:
    """A person who follows `racwire experiment next` on the first node."""

    def __init__(self, rehearsal: Rehearsal) -> None:
        self.rehearsal = rehearsal
        self._operator = Operator(rehearsal.lab, "rac1", rehearsal.environment)
        self.seen: list[str] = []

    def leave(self) -> None:
        self._operator.leave()

    def type(self, *words: str) -> CommandResult:
        return self._operator.type(["experiment", *words])

    @property
    def step(self) -> dict[str, Any]:
        steps = self.type("next", "--format", "json").document["steps"]
        return dict(steps[0]) if steps else {"id": ""}

    def operate(self, step: dict[str, Any]) -> None:
        """Do what the step prints: commands of SQL*Plus in SQL*Plus, those of a shell in the shell of a node."""
        for block in step["commands"]:
            if block.get("optional") or any("racwire change new" in line for line in block["lines"]):
                continue
            if "SQL*Plus" in block["where"]:
                sql = "\n".join(line for line in block["lines"] if "RESTORE POINT" in line)
                done = run_in(self.rehearsal.lab, "rac1", f"sqlplus / as sysdba <<'EOF'\n{sql}\nEOF", {})
                assert done.returncode == 0, done.stdout + done.stderr
                self.seen.append(done.stdout)
            elif block["node"]:
                self.rehearsal.inside(block["node"], block["lines"])

    def prove(self, step: dict[str, Any], *, may_be_open: bool = False) -> None:
        if "its gate" in step["waits_for"]:
            result = self.type("verify", "--format", "json")
            if may_be_open and result.code == 3:
                assert self.type("override", "--by", "Ann Lee", "--reason", BUSY).code == 0
            else:
                assert result.code == 0, (step["id"], result.document["results"])
        if "an attestation" in step["waits_for"]:
            result = self.type("attest", "--by", "Ann Lee", "--note", "200 blocks/s; own-a.txt")
            assert result.code == 0, result.err

    def walk(self, until_step: str = "") -> None:
        while (step := self.step)["id"] and step["id"] != until_step:
            self.operate(step)
            self.prove(step, may_be_open=step["id"] == "result")


@pytest.fixture
def experimenter(tmp_path: Path) -> Iterator[Experimenter]:
    rehearsal = Rehearsal(tmp_path, database=True, switch_mtu=9216, mtu=1500)
    one = Experimenter(rehearsal)
    yield one
    one.leave()
    rehearsal.end()


def points(experimenter: Experimenter) -> str:
    sql = "SELECT name FROM v$restore_point;"
    return run_in(experimenter.rehearsal.lab, "rac1", f"sqlplus / as sysdba <<'EOF'\n{sql}\nEOF", {}).stdout


def failing(result: CommandResult) -> set[str]:
    assert result.code == 2, result.out + result.err
    return {r["check"] for r in result.document["results"] if r["status"] == "FAIL"}


def test_an_experiment_from_start_to_end(experimenter):
    rehearsal = experimenter.rehearsal
    refused = experimenter.type(*NEW, "--database", "prod", *DESPITE)
    assert refused.code == 2
    assert "No running database of this cluster has the unique name 'prod'" in " ".join(refused.out.split())

    opened = experimenter.type(*NEW, "--database", "PRAC", *DESPITE)
    assert opened.code == 0, opened.out + opened.err
    assert "For test databases only" in opened.out
    experimenter.walk("restore-point")
    assert failing(experimenter.type("verify", "--format", "json")) == {"restore-point"}  # it is not created yet
    experimenter.walk("run-a")
    assert failing(experimenter.type("verify", "--format", "json")) == {"run-a-recording"}
    experimenter.walk("set-mtu")
    assert "no rows selected" not in points(experimenter)

    # The MTU is not changed yet; then by hand, which is no change with gates.
    assert {"mtu-changed", "running-mtu"} <= failing(experimenter.type("verify", "--format", "json"))
    rehearsal.begin(9000)
    assert "is not signed off yet" in experimenter.type("verify").out
    rehearsal.walk()
    assert rehearsal.mtu("rac2") == 9000
    experimenter.prove(experimenter.step)
    experimenter.walk("drop-point")
    assert failing(experimenter.type("verify", "--format", "json")) == {"restore-point-dropped"}
    experimenter.walk()
    assert "no rows selected" in points(experimenter)

    report = experimenter.type("report").out
    assert "Signed off by Ann Lee" in report
    assert "own load at MTU 1500 and 9000, on prac" in report
    document = experimenter.type("report", "--format", "json").document
    assert document["noun"] == "experiment"
    assert document["predicted"]
    assert not [each for each in document["surprises"] if each["dangerous"]]
    assert experimenter.type("list").out.startswith("✓  Experiment")


def test_an_experiment_goes_back_from_the_middle(experimenter):
    assert experimenter.type(*NEW, "--database", "prac", *DESPITE).code == 0
    experimenter.walk("flash-back-1")
    # The recovery area fills up: each later step names it.
    area = experimenter.rehearsal.directory / "database" / "recovery_area"
    run(experimenter.rehearsal.lab, "rac1", "truncate", "-s", f"{10 * 2**30 - 2**20}", str(area / "backup.bkp"))
    assert failing(experimenter.type("verify", "--format", "json")) == {"recovery-area"}
    (area / "backup.bkp").unlink()
    assert experimenter.type("abandon", "--by", "Ann Lee", "--reason", "It is decided otherwise.").code == 64
    assert experimenter.type("rollback", "--by", "Ann Lee", "--reason", "It is decided otherwise.").code == 0
    experimenter.walk()
    assert "no rows selected" in points(experimenter)
    assert experimenter.type("report", "--format", "json").document["outcome"] == "rolled back"
