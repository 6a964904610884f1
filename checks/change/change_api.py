"""A change as both front doors have it, the console and the command line: they use only this."""

from checks.change.journal_files import current, directory_of, journals
from checks.change.opening import Opened, open_change
from checks.change.session import Conduct

__all__ = ["Conduct", "Opened", "current", "directory_of", "journals", "open_change"]
