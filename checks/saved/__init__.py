"""Evidence in one file: saved on the cluster, opened anywhere.

A saved file is a zip, so that anybody can look into it, with fixed members: `manifest.json`, `report.json` and, where
traffic was recorded, `recording.rec`. `save` writes one, `open_saved` reads it, `checks.saved.replay` judges it again.
"""

from checks.saved.errors import SavedError
from checks.saved.kind import kind_of
from checks.saved.reading import Saved, open_saved
from checks.saved.writing import save

__all__ = ["Saved", "SavedError", "kind_of", "open_saved", "save"]
