"""Run the racwire command with `python -m tui`."""

import sys

from tui.entry import main

sys.exit(main())
