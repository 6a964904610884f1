"""Text as data, and the lines of findings, gates and steps, for the command line and for the screens."""
