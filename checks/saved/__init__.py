"""Evidence in one file: saved on the cluster, opened anywhere.

A saved file is one SQLite file: a report, what it says of itself (`manifest.py`), and, where traffic was recorded, the
tables of a recording. `save` writes one, `open_saved` reads it, `saved_replay` judges it again. Those of racwire
0.1.0 are zips; they are read too.
"""

from checks.saved.manifest import SavedError
from checks.saved.reader import Saved, kind_of, open_saved
from checks.saved.writer import save

__all__ = ["Saved", "SavedError", "kind_of", "open_saved", "save"]
