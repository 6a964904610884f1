"""A change as both front doors have it, the console and the command line: they use only this."""

from checks.change.conducting import Conduct
from checks.change.opening import Opened, open_change
from checks.change.places import current, directory_of, journals

__all__ = ["Conduct", "Opened", "current", "directory_of", "journals", "open_change"]
