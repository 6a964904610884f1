"""Run the racwire command with `python -m tui`."""

import sys

from racwire import main

sys.exit(main())
