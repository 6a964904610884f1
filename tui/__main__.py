"""`python -m tui`: the racwire command."""

import sys

from tui.entry import main

sys.exit(main())
