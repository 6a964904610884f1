"""`python -m tui`: the racwire command."""

import sys

from tui.cli import main

sys.exit(main())
