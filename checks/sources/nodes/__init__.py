"""Connect to nodes and read them. This package and the probes perform the I/O on nodes."""
