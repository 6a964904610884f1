"""Start the Cache Fusion daemon of a practice node: `python -I -S start_cache_fusion.py NODE_HOME`."""

import os
import runpy
import sys

if __name__ == "__main__":
    # So that Python loads only the package in this directory, in a few milliseconds, and nothing of racwire.
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    runpy.run_module("cache_fusion", run_name="__main__")
