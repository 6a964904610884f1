"""Entry point for `start_cache_fusion.py`."""

import sys

from .daemon import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
