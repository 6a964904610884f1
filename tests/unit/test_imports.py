"""The package `checks` works without the terminal's libraries: these tests run it without them."""

import subprocess
import sys

import pytest

FORBIDDEN = ("textual", "rich", "tui")


@pytest.mark.parametrize(
    "module", ["checks", "checks.run.engine", "checks.model.check", "checks.report.json_report", "racwire_lab"]
)
def test_importing_checks_loads_nothing_of_the_terminal(module):
    program = f"import {module}, sys; print([m for m in {FORBIDDEN!r} if m in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout.strip() == "[]"


def test_the_engine_does_not_load_netlink_before_its_use():
    program = "import checks.run.engine, sys; print('pyroute2' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout.strip() == "False"


@pytest.mark.parametrize(
    "words", [["--help"], ["check", "--help"], ["settings"], ["grants"], ["plan", "--connect", "h/p"]]
)
def test_the_driver_is_not_loaded_before_a_database_is_queried(words):
    program = (
        "import sys; from tui.cli.main import main\n"
        f"try: main({words!r})\n"
        "finally: sys.stderr.write(str('oracledb' in sys.modules))"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert ran.stderr == "False"
