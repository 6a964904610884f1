"""The readiness for a check, as `racwire doctor` reports it: rights, nodes, database, and what will be UNKNOWN."""
