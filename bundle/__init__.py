"""Builds racwire as one file with its own Python, for nodes without Python or the Internet: `make bundle`."""
