"""The command that stops Clusterware on a node: it waits for the planned instances only."""

import subprocess

import pytest

from checks.change.plan.change_plan import PlannedDatabase
from checks.change.steps import stack_commands

PLANNED = PlannedDatabase(name="prod", instances={"rac1": "prod1", "rac2": "prod2"})
ODD = PlannedDatabase(name="c$x", instances={"rac1": "c$x"})
NO_NAMES = PlannedDatabase(name="crm", instances={})


@pytest.mark.parametrize(
    ("databases", "processes", "refuses", "listed"),
    [
        ((PLANNED,), ("ora_pmon_prod1",), True, ()),
        ((PLANNED,), ("ora_pmon_prod_3",), True, ()),  # Clusterware gave it another number
        ((PLANNED, ODD), ("ora_pmon_c$x",), True, ()),
        ((PLANNED, ODD), ("ora_pmon_cxx", "ora_pmon_product"), False, ("ora_pmon_cxx", "ora_pmon_product")),
        ((PLANNED,), ("asm_pmon_+ASM1", "ora_pmon_-MGMTDB"), False, ()),
        ((PLANNED, NO_NAMES), ("ora_pmon_x",), True, ()),
        ((NO_NAMES,), ("ora_pmon_-MGMTDB",), False, ()),
        ((), ("ora_pmon_prod1",), False, ()),
    ],
)
def test_the_commands_of_one_node_stop_clusterware_only_after_its_planned_instances(
    tmp_path, databases, processes, refuses, listed
):
    home = tmp_path / "grid"
    (tmp_path / "processes").write_text("\n".join(("grep ora_pmon_prod1", *processes, "")))
    for name, text in {
        "ps": f"cat {tmp_path}/processes",
        "grid/bin/crsctl": f'echo "$@" >> {tmp_path}/ran',
    }.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"#!/bin/sh\n{text}\n")
        file.chmod(0o755)
    (line,) = stack_commands.stop("rac1", str(home), databases).lines
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    done = subprocess.run(["sh", "-e"], input=line, text=True, capture_output=True, env=environment)
    assert (done.returncode != 0) is refuses
    assert ("Stop the databases first" in done.stderr) is refuses
    assert (tmp_path / "ran").exists() is not refuses
    assert [one for one in done.stderr.splitlines() if "Not in the plan" in one] == [
        f"Not in the plan: {name}" for name in listed
    ]
