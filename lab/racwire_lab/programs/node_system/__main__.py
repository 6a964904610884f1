"""`node_system NAME ARGUMENTS…`: run one of the programs of a node, selected by its name."""

from __future__ import annotations

import importlib
import sys

_MODULES = {
    "boot": "boot",
    "nmcli": "nmcli",
    "networkctl": "networkctl",
    "ifup": "ifup",
    "ifdown": "ifup",
}
"""Programs by name; all other names are names of systemctl."""


def main() -> int:
    """Run the program. Return its exit code."""
    name, *arguments = sys.argv[1:]
    module = importlib.import_module(f"{__package__}.{_MODULES.get(name, 'systemctl')}")
    code: int = module.main(name, arguments)
    return code


if __name__ == "__main__":
    sys.exit(main())
