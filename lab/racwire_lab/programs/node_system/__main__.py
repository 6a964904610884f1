"""`node_system NAME ARGUMENTS…`: one of the programs of a node, by the name that it was called by."""

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
"""All others are names of systemctl."""


def main() -> int:
    """Run it; its exit code."""
    name, *arguments = sys.argv[1:]
    module = importlib.import_module(f"{__package__}.{_MODULES.get(name, 'systemctl')}")
    code: int = module.main(name, arguments)
    return code


if __name__ == "__main__":
    sys.exit(main())
