"""Where facts come from: `registry.py` lists every file, command, program, SQL statement and packet."""
