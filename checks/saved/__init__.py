"""Evidence in one file: saved on the cluster, opened anywhere.

A saved file is one SQLite file with a manifest (`manifest.py`), a report and, where traffic was recorded, the tables of
a recording. `save` writes the file, `open_saved` reads it, and `saved_replay` judges it again.
"""

from checks.saved.manifest import SavedError
from checks.saved.reader import Saved, kind_of, open_saved
from checks.saved.writer import save

__all__ = ["Saved", "SavedError", "kind_of", "open_saved", "save"]
