"""Start a program of a practice node's system: `python -I -S start_node_system.py NAME ARGUMENTS…`."""

import os
import runpy
import sys

if __name__ == "__main__":
    # So that Python loads only the package in this directory, in a few milliseconds, and nothing of racwire.
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    runpy.run_module("node_system", run_name="__main__")
