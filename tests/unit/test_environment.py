"""Every variable of the environment that racwire reads is in docs/settings.md."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{2,}")
_ENVIRONMENTS = {"environ", "environment"}
_OF_A_PROCESS = re.compile(r"\bos\.environ\b|\bgetenv\b|\benvironment: (Mapping|dict)\[str, str\]")
SET_BY_RACWIRE = {
    "RACWIRE_BUNDLE", "RACWIRE_ENTERED_BY_LAB", "RACWIRE_LAB", "ESCDELAY", "TEXTUAL_ANIMATIONS", "TEXTUAL_COLOR_SYSTEM",
    "LESSSECURE", "NLS_LANG", "ORA_NLS", "PYTHONCOERCECLOCALE", "PYTHONPATH",
}  # fmt: skip
"""For itself, or for a program that it runs; nobody else sets them for racwire."""
SET_BY_OTHERS = {"LINES", "PATH", "PYTHONIOENCODING", "SUDO_UID", "SSH_ORIGINAL_COMMAND"}
"""By the shell, for every program of Python, by sudo and by sshd; nobody sets them for racwire."""
EXAMPLES = {
    "RACWIRE_SECTION_NAME", "RACWIRE_DATABASE_CONNECT", "RACWIRE_CLUSTER_PEERS", "RACWIRE_DATABASE_SYSDBA",
    "RACWIRE_LOG_FILE", "RACWIRE_SYSLOG_SEND",
}  # fmt: skip
"""Variables of settings, which have one name each."""
NO_VARIABLES = {"AMERICAN_AMERICA", "CLUSTER", "FRX", "PEER", "RACWIRE_", "SYS", "UTF8", "VERBOSE"}


def read_variables(file: Path) -> Iterator[str]:
    """Yield the names that a file looks up in the environment: written in such a function, or in its constants."""
    tree = ast.parse(file.read_text())
    constants = {
        target.id: texts(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            names = {n.id for n in ast.walk(function) if isinstance(n, ast.Name)}
            names |= {n.attr for n in ast.walk(function) if isinstance(n, ast.Attribute)}
            names |= {argument.arg for argument in function.args.args}
            if names & _ENVIRONMENTS:
                yield from texts(*function.body)
                for name in names & constants.keys():
                    yield from constants[name]


def texts(*nodes: ast.AST) -> list[str]:
    inside = [n.value for node in nodes for n in ast.walk(node) if isinstance(n, ast.Constant)]
    return [text for text in inside if isinstance(text, str) and _VARIABLE.fullmatch(text)]


def test_every_variable_that_is_read_is_documented() -> None:
    files = [*(ROOT / "checks").rglob("*.py"), *(ROOT / "tui").rglob("*.py"), *(ROOT / "lab/racwire_lab").rglob("*.py")]
    files = [file for file in files if _OF_A_PROCESS.search(file.read_text())]
    read = {name: file for file in files for name in read_variables(file)}
    assert {"RACWIRE_RSH", "RACWIRE_PAGER", "CLICOLOR_FORCE", "TNS_ADMIN"} <= read.keys()
    table = (ROOT / "docs/settings.md").read_text().partition("## Environment")[2]
    documented = set(re.findall(r"[A-Z][A-Z0-9_]{2,}", table))
    missing = read.keys() - documented - SET_BY_RACWIRE - SET_BY_OTHERS - NO_VARIABLES
    assert not missing, {name: str(read[name].relative_to(ROOT)) for name in missing}
    assert not {name for name in documented if name.startswith("RACWIRE_")} - read.keys() - EXAMPLES
