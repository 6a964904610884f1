"""Read saved files of racwire 0.1.0 (`racwire-saved/1`), which are zips. The files are not trusted.

No member is extracted under a name from the zip. Only the members that racwire writes are read, each up to a limit,
whatever size the zip declares. Other members are ignored.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import stat
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from checks.saved.manifest import MANIFEST_BYTES, Manifest, Member, SavedError, damaged, decode, foreign
from checks.traffic.recording import Recording, RecordingError

FORMAT = "racwire-saved/1"
MANIFEST, REPORT, RECORDING = "manifest.json", "report.json", "recording.rec"
RECORDING_BYTES = 2_000_000_000
"""The largest accepted recording: forty days with one sample a second, of 8 interfaces and 2 instances."""

Directory = tempfile.TemporaryDirectory[str]
_CHUNK = 1_000_000
_DIRECTORY_BYTES = 64_000
"""The largest accepted table of contents of a zip, which is read into memory whole: racwire's has about 200 bytes, and
other zip tools add little to it."""
_END = struct.Struct("<4s4H2LH")
_LOCATOR_BYTES = 20
_LONGEST_COMMENT = 65_535
_ENCRYPTED = 0x1
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Methods that decompress in pieces of limited size; with other methods a piece has no limit."""
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OverflowError,
           KeyError, IndexError, struct.error)  # fmt: skip
"""The exceptions of `zipfile` for a damaged file."""


class Zip:
    """A saved file in a zip. Every method raises SavedError where the file is damaged or exceeds a limit."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        """Read the table of contents and the manifest. The caller keeps `file` open while it uses this object."""
        self._path = path
        self._file = file
        with self._whole():
            _check_directory_size(path, file)
            self._zip = zipfile.ZipFile(file)
            self._members = self._found()
            if MANIFEST not in self._members:
                raise foreign(path)
            self.manifest: Manifest = decode(self._bytes(MANIFEST, MANIFEST_BYTES), path, FORMAT)
            if REPORT not in self.manifest.members:
                raise foreign(path)

    def read(self, name: str, limit: int) -> bytes:
        """The bytes of a member, with its checksum verified."""
        with self._whole():
            data = self._bytes(name, limit)
            self._prove(name, len(data), hashlib.sha256(data).hexdigest())
            return data

    def recording(self) -> tuple[Recording, Directory] | None:
        """The recording, decompressed to a private temporary directory (TMPDIR); None where there is none.

        The caller removes the directory. Raises SavedError where it cannot be decompressed.
        """
        if RECORDING not in self.manifest.members:
            return None
        try:
            directory = Directory(prefix="racwire-")
        except OSError as error:
            raise self._no_room(error) from None
        try:
            return self._inflated(Path(directory.name)), directory
        except BaseException:
            directory.cleanup()
            raise

    def _inflated(self, directory: Path) -> Recording:
        try:
            declared = self.manifest.members[RECORDING].bytes
            if shutil.disk_usage(directory).free < min(declared, RECORDING_BYTES):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            with (directory / RECORDING).open("xb") as copy:
                self._copy(RECORDING, copy, RECORDING_BYTES)
            return Recording.open(directory / RECORDING)
        except OSError as error:
            raise self._no_room(error) from None
        except RecordingError:
            raise damaged(self._path) from None

    def _no_room(self, error: OSError) -> SavedError:
        return SavedError(
            f"racwire could not unpack the recording of {self._path} to {tempfile.gettempdir()}: {error.strerror}; set "
            "TMPDIR to a directory with more space."
        )

    def _copy(self, name: str, to: BinaryIO, limit: int) -> None:
        """Decompress a member to a file, and verify its checksum. Raises OSError where the file cannot be written."""
        size, digest = 0, hashlib.sha256()
        for chunk in self._chunks(name):
            size += len(chunk)
            if size > limit:
                raise self._too_large(name, limit)
            digest.update(chunk)
            to.write(chunk)
        self._prove(name, size, digest.hexdigest())

    def _found(self) -> dict[str, zipfile.ZipInfo]:
        """The members by name. Raises SavedError for a repeated name, which only a forged zip has."""
        found: dict[str, zipfile.ZipInfo] = {}
        for info in self._zip.infolist():
            if info.filename in found:
                raise damaged(self._path)
            found[info.filename] = info
        return found

    def _bytes(self, name: str, limit: int) -> bytes:
        parts, size = [], 0
        for chunk in self._chunks(name):
            size += len(chunk)
            if size > limit:
                raise self._too_large(name, limit)
            parts.append(chunk)
        return b"".join(parts)

    def _chunks(self, name: str) -> Iterator[bytes]:
        info = self._members.get(name)
        kind = (info.external_attr >> 16) if info else 0
        if info is None or info.flag_bits & _ENCRYPTED or info.compress_type not in _METHODS:
            raise damaged(self._path)
        if stat.S_IFMT(kind) not in (0, stat.S_IFREG):
            raise damaged(self._path)
        with self._whole():
            member = self._zip.open(info)
        with member:
            while True:
                with self._whole():
                    chunk = member.read(_CHUNK)
                if not chunk:
                    return
                yield chunk

    def _prove(self, name: str, size: int, sha256: str) -> None:
        if self.manifest.members.get(name) != Member(size, sha256):
            raise damaged(self._path)

    def _too_large(self, name: str, limit: int) -> SavedError:
        return SavedError(
            f"racwire did not open {self._path}: its {name} decompresses to over {limit:,} bytes, more than racwire "
            "saves. Ask the person who sent the file."
        )

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """Translate errors of reading to SavedError."""
        try:
            yield
        except OSError as error:
            raise SavedError(f"{self._path} could not be read: {error.strerror or error}.") from None
        except _BROKEN:
            raise damaged(self._path) from None


def _check_directory_size(path: Path, file: BinaryIO) -> None:
    """Refuse a zip whose table of contents is too large to read into memory; the record at its end has the size.

    Raises SavedError.
    """
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _LOCATOR_BYTES - _END.size - _LONGEST_COMMENT))
    tail = file.read()
    at = tail.rfind(b"PK\5\6")
    if at < 0 or len(tail) - at < _END.size:
        raise damaged(path)
    *_, directory_bytes, _, _ = _END.unpack_from(tail, at)
    # The larger layout (zip64) has a second record of sizes before this one, which `zipfile` would use instead.
    if directory_bytes > _DIRECTORY_BYTES or b"PK\6\7" in tail[max(0, at - _LOCATOR_BYTES) : at]:
        raise foreign(path)
