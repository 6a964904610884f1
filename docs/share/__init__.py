"""Writes the completion of the shells and the man pages from the parsers of the command line, when a wheel is built."""
