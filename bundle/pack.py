"""The bundle, one file: a header in shell, then an archive. The same tree gives the same bytes.

    TREE/bin/python3.13 -I bundle/pack.py TREE UNXZ RUN VERSION EPOCH

The archive has `unxz`, a program, and `files`, an xz archive of the tree: an xz archive is much smaller than one of
gzip (by a third), and a node without xz can unpack it. EPOCH is the time of every file in it.
"""

from __future__ import annotations

import hashlib
import io
import lzma
import sys
import tarfile
from pathlib import Path

HEADER = Path(__file__).with_name("header.sh")
_MB = 1_000_000
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": 32 << 20}]
"""Unpacking needs `dict_size` bytes of the node's memory."""


def main(tree: Path, unxz: Path, run: Path, version: str, epoch: int) -> None:
    """Write RUN and RUN.sha256."""
    files = tar([(path, str(path.relative_to(tree))) for path in sorted(tree.rglob("*"))], epoch)
    packed = tree.with_name("files.tar.xz")
    packed.write_bytes(lzma.compress(files, filters=_FILTERS))
    payload = tar([(unxz, "unxz"), (packed, "files")], epoch)
    needed = -(-(len(files) + len(payload)) // _MB)
    data = header(version, payload, needed) + payload
    run.write_bytes(data)
    run.chmod(0o755)
    run.with_name(f"{run.name}.sha256").write_text(f"{hashlib.sha256(data).hexdigest()}  {run.name}\n")


def header(version: str, payload: bytes, megabytes: int) -> bytes:
    """Return the header of a payload, which says at which byte, counted from 1, the payload begins."""
    text = HEADER.read_text()
    digest = hashlib.sha256(payload).hexdigest()
    for name, value in (("VERSION", version), ("SHA256", digest), ("MEGABYTES", str(megabytes))):
        text = text.replace(f"@{name}@", value)
    length = len(text) - len("@PAYLOAD_AT@")
    at = next(at for at in range(length, length + 20) if length + len(str(at)) + 1 == at)
    return text.replace("@PAYLOAD_AT@", str(at)).encode()


def tar(files: list[tuple[Path, str]], epoch: int) -> bytes:
    """Return an archive of files, each with its name in it: nothing of their owners, their times or the umask."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path, name in files:
            member = archive.gettarinfo(path, name)
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            member.mtime = epoch
            member.mode = 0o755 if member.isdir() or path.stat().st_mode & 0o100 else 0o644
            if member.isfile():
                with path.open("rb") as content:
                    archive.addfile(member, content)
            else:
                archive.addfile(member)
    return buffer.getvalue()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4], int(sys.argv[5]))
