"""What can be wrong with a saved file."""


class SavedError(Exception):
    """A saved file could not be opened or made: one sentence with which file, why and what to do."""
