"""What a command line can get wrong."""


class UsageError(Exception):
    """The command line asks for something that is not there: one sentence with what there is."""
