"""The command line: options and run of each command."""
