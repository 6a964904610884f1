"""The error of a wrong command line."""


class UsageError(Exception):
    """A wrong command line: one sentence with the mistake, and with the values that are possible."""
