"""No part of racwire starts a process except the two that the guard protects, and none configures the kernel."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import checks
import tui
from docs.generate.source_texts import source_tree

ROOT = Path(checks.__file__).parent.parent
PRACTICE = ("tui/cli/lab.py",)
"""Files that run the practice cluster; they never run on a node of a real one."""

STARTS = {
    "checks/sources/clusterware/grid_tool_command.py": {"subprocess_exec"},
    "checks/sources/nodes/process.py": {"subprocess_exec"},
    "checks/sources/database/secret.py": {"ctypes"},
    "tui/cli/pager.py": {"subprocess", "Popen"},
    "tui/terminal/job_control.py": {"subprocess", "Popen"},
}
"""Files that start processes: a command, which is judged there; the shells, whose programs are judged; and the pager
and the shell that the operator's environment names. Also the file that calls the C library, which could start
processes too; it wipes a password."""

MODULES = {"subprocess", "pty", "multiprocessing", "webbrowser", "ctypes", "cffi", "paramiko"}
CALLS = {
    *("system", "popen", "Popen", "startfile", "fork", "forkpty", "posix_spawn", "posix_spawnp"),
    *("execl", "execle", "execlp", "execlpe", "execv", "execve", "execvp", "execvpe"),
    *("spawnl", "spawnle", "spawnlp", "spawnlpe", "spawnv", "spawnve", "spawnvp", "spawnvpe"),
    *("create_subprocess_exec", "create_subprocess_shell", "subprocess_exec", "subprocess_shell"),
    *("ProcessPoolExecutor", "open_url"),
}

WORDS = re.compile(rf"\b({'|'.join(sorted(MODULES | CALLS | {'pyroute2', 'nodes.process', 'nodes import'}))})\b")
"""A file without any of these texts needs no check."""


@cache
def modules() -> tuple[tuple[str, ast.Module], ...]:
    return tuple(_modules())


def _modules() -> Iterator[tuple[str, ast.Module]]:
    for package in (checks, tui):
        for file in sorted(Path(package.__file__ or "").parent.rglob("*.py")):
            name = file.relative_to(ROOT).as_posix()
            text = file.read_text()
            if not name.startswith(PRACTICE) and WORDS.search(text):
                yield name, source_tree(file)


def what_starts(tree: ast.Module) -> set[str]:
    """The names by which code could start a process."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.partition(".")[0] in MODULES}
        elif isinstance(node, ast.ImportFrom):
            found |= {node.module} if node.module and node.module.partition(".")[0] in MODULES else set()
            found |= {alias.name for alias in node.names if alias.name in CALLS | MODULES}
        elif isinstance(node, ast.Attribute) and node.attr in CALLS:
            found.add(node.attr)
        elif isinstance(node, ast.Constant) and node.value in MODULES | {"asyncio.subprocess"}:
            found.add(str(node.value))  # getattr, import_module
    return found


def imports(tree: ast.Module) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def test_processes_are_started_only_where_the_guard_checks_them() -> None:
    assert {name: found for name, tree in modules() if (found := what_starts(tree))} == STARTS


def test_only_the_shell_module_uses_the_process_module() -> None:
    users = {name for name, tree in modules() if "checks.sources.nodes.process" in imports(tree)}
    # `ssh -G`, which reads the configuration of ssh; and the processes that keep racwire's own nice value.
    own = {"checks/sources/nodes/considerate_ssh.py", "checks/sources/nodes/niceness.py"}
    assert users == {"checks/sources/nodes/shell.py", *own}


def test_only_the_far_end_of_a_measurement_and_the_trace_of_a_kernel_replace_a_shell() -> None:
    users = {
        file.relative_to(ROOT).as_posix()
        for package in (checks, tui)
        for file in Path(package.__file__ or "").parent.rglob("*.py")
        if "hand_over" in file.read_text()
    }
    assert users == {
        "checks/sources/nodes/shell.py",
        "checks/measure/far_end/far_process.py",
        "checks/sources/kernel_trace/tracing.py",
    }


def test_netlink_requests_only_read() -> None:
    users = {name for name, tree in modules() if any(module.startswith("pyroute2") for module in imports(tree))}
    assert users == {"checks/sources/nodes/netlink.py"}
    tree = source_tree(ROOT / "checks/sources/nodes/netlink.py")
    requests = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "kernel"
    }
    assert requests == {"get_links", "get_addr", "get_routes", "get_neighbours", "get_qdiscs"}


def test_the_search_finds_every_kind_of_start() -> None:
    for code in (
        "import subprocess",
        "from subprocess import run",
        "import os\nos.system('x')",
        "from os import execvp",
        "import asyncio\nasyncio.create_subprocess_exec('x')",
        "from asyncio import subprocess",
        "import importlib\nimportlib.import_module('pty')",
        "import psutil\npsutil.Popen('x')",
    ):
        assert what_starts(ast.parse(code)), code
