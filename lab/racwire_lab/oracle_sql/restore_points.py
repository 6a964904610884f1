"""The restore points and the recovery area of the practice database: files in a directory that all instances share.

The database has no redo and no flashback logs: a restore point is a file with its name, and the space that is used is
that of the files in the directory.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from racwire_lab.oracle_sql.errors import oracle_error

POINT_COLUMNS = """SCN N, DATABASE_INCARNATION# N, GUARANTEE_FLASHBACK_DATABASE V3, STORAGE_SIZE N, TIME T9,
    RESTORE_POINT_TIME T9, PRESERVED V3, NAME V128, PDB_RESTORE_POINT V3 12.2-, CLEAN_PDB_RESTORE_POINT V3 12.2-,
    PDB_INCARNATION# N 12.2-, REPLICATED V3 18-"""
AREA_COLUMNS = "NAME V513, SPACE_LIMIT N, SPACE_USED N, SPACE_RECLAIMABLE N, NUMBER_OF_FILES N"
"""The columns of V$RESTORE_POINT and V$RECOVERY_FILE_DEST, in the notation of `dictionary`."""
LIMIT_BYTES = 10 * 2**30
"""The size of the recovery area (db_recovery_file_dest_size)."""
_SUFFIX = ".restore_point"
_GUARANTEED, _NORMAL = "YES", "NO"
_CREATE = re.compile(
    r"CREATE\s+RESTORE\s+POINT\s+\"?([A-Z][A-Z0-9_$#]{0,127})\"?(\s+GUARANTEE\s+FLASHBACK\s+DATABASE)?", re.IGNORECASE
)
_DROP = re.compile(r"DROP\s+RESTORE\s+POINT\s+\"?([A-Z][A-Z0-9_$#]{0,127})\"?", re.IGNORECASE)
_FLASHBACK = re.compile(r"FLASHBACK\s+DATABASE\s+TO\s+RESTORE\s+POINT\s+\S+", re.IGNORECASE)


@dataclass(frozen=True)
class RestorePoints:
    """The restore points of one database."""

    directory: Path

    def run(self, text: str) -> bool:
        """Run a statement about restore points; return False for any other one. Raises OracleError."""
        if found := _CREATE.fullmatch(text):
            self._create(found[1].upper(), _GUARANTEED if found[2] else _NORMAL)
        elif found := _DROP.fullmatch(text):
            self._drop(found[1].upper())
        elif _FLASHBACK.fullmatch(text):
            raise oracle_error(38757)
        else:
            return False
        return True

    def _create(self, name: str, guarantee: str) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        try:
            with (self.directory / f"{name}{_SUFFIX}").open("x", encoding="ascii") as file:
                file.write(f"{guarantee} {time.time()}\n")
        except FileExistsError:
            raise oracle_error(38778, name) from None

    def _drop(self, name: str) -> None:
        try:
            (self.directory / f"{name}{_SUFFIX}").unlink()
        except FileNotFoundError:
            raise oracle_error(38780, name) from None

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield the rows of V$RESTORE_POINT."""
        for file in self._files():
            if file.name.endswith(_SUFFIX):
                guarantee, made_at = file.read_text(encoding="ascii").split()
                yield {
                    "SCN": int(float(made_at)),
                    "DATABASE_INCARNATION#": 1,
                    "GUARANTEE_FLASHBACK_DATABASE": guarantee,
                    "STORAGE_SIZE": 0,
                    "TIME": datetime.fromtimestamp(float(made_at)),
                    "PRESERVED": guarantee,
                    "NAME": file.name.removesuffix(_SUFFIX),
                }

    def used_bytes(self) -> int:
        """Return the size of all files in the recovery area."""
        return sum(file.stat().st_size for file in self._files())

    def _files(self) -> list[Path]:
        return sorted(self.directory.iterdir()) if self.directory.is_dir() else []
