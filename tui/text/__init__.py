"""Text as data, and the lines that findings, gates and steps are made of: for the command line and for the screens."""
