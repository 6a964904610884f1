"""`measure storage`: what a directory is, where nothing is written, and that nothing remains of the file."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from checks.measure.load_limits import limits_of, of_storage
from checks.measure.measure_error import MeasureError
from checks.measure.near_end.control import Budget, Orders
from checks.measure.near_end.stopped import StoppedError
from checks.measure.near_end.storage_file import DIRECT, FSYNC, StorageFile
from checks.measure.storage import Storage
from checks.measure.storage_place import StoragePlace, mount_of, storage_link, storage_refusals
from checks.model.facts import Route
from tests.fixtures import clusters

MOUNTINFO = """\
21 1 8:2 / / rw,relatime shared:1 - xfs /dev/sda2 rw,attr2
40 21 0:52 / /mnt rw,relatime shared:20 - nfs4 10.40.0.200:/export rw,vers=4.1,addr=10.40.0.200
41 40 0:53 / /mnt/a\\040b rw,relatime - acfs /dev/asm/vol1-123 rw
42 21 8:17 /sub /u02 rw - ext4 /dev/sdb1 rw
broken line
"""
NFS = os.makedev(0, 52)


def look(real: str = "/mnt/backup", **changed: Any) -> dict[str, Any]:
    usual = {
        "real": real,
        "device": NFS,
        "inode": 5,
        "size": 100 << 30,
        "free": 60 << 30,
        "is_read_only": False,
        "is_writable": True,
        "names": ["notes.txt"],
    }
    return {**usual, **changed}


def place(real: str = "/mnt/backup", disk: str = "", **changed: Any) -> StoragePlace:
    return StoragePlace.of(real, look(real, **changed), MOUNTINFO, disk)


def codes(one: StoragePlace, *, is_lab: bool = False) -> list[str]:
    return [refusal.code for refusal in storage_refusals(one, 256 << 20, is_lab=is_lab)]


# --- the directory ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("real", "device", "file_system"),
    [
        ("/mnt", NFS, "nfs4"),
        ("/mnt/x/y", NFS, "nfs4"),
        ("/mnt/a b/c", os.makedev(0, 53), "acfs"),
        ("/mntx", os.makedev(8, 2), "xfs"),
        ("/u02/x", os.makedev(8, 17), "ext4"),
        ("/u02/x", os.makedev(0, 99), "ext4"),
    ],
)
def test_the_mount_of_a_directory_is_found(real: str, device: int, file_system: str) -> None:
    mount = mount_of(MOUNTINFO, real, device)
    assert mount is not None
    assert mount.file_system == file_system


@given(st.text(), st.text())
def test_no_mountinfo_breaks_the_parser(text: str, real: str) -> None:
    mount_of(text, f"/{real}", NFS)


@pytest.mark.parametrize(
    ("one", "code"),
    [
        (place(), None),
        (place("/mnt/a b", device=os.makedev(0, 53)), "ME-STORE-001"),
        (place("/u02/x", device=os.makedev(8, 17)), "ME-STORE-003"),
        (place("/u02/x", "/sys/devices/platform/host3/session1/target3:0:0/block/sdb", device=os.makedev(8, 17)), None),
        (place(names=["system01.DBF", "notes"]), "ME-STORE-004"),
        (place(names=["o1_mf_users_k1_.dbf"]), "ME-STORE-004"),
        (place("/mnt/PROD/datafile"), "ME-STORE-004"),
        (place(is_read_only=True), "ME-STORE-005"),
        (place(is_writable=False), "ME-STORE-005"),
        (place(free=20 << 30), "ME-STORE-006"),
        (place(size=0, free=0), "ME-STORE-006"),
    ],
)
def test_nothing_is_written_where_it_may_harm(one: StoragePlace, code: str | None) -> None:
    assert codes(one) == ([] if code is None else [code])


def test_a_local_disk_serves_for_practice_only() -> None:
    disk = place("/u02/x", device=os.makedev(8, 17))
    assert codes(disk, is_lab=True) == []
    assert codes(place(names=["a.dbf"]), is_lab=True) == ["ME-STORE-004"]


def test_the_link_to_the_server_is_that_of_its_route() -> None:
    found = clusters.cluster(2)
    here = clusters.node(1)
    routes = (*here.routes, Route("10.40.0.0/24", "eth2"))
    with_route = replace(found, nodes=(replace(here, routes=routes), clusters.node(2)))
    link = storage_link(with_route, place())
    assert link is not None
    assert (link.interface, link.target, link.speed_mbps) == ("eth2", "10.40.0.200", 10_000)
    assert storage_link(found, place("/u02/x", device=os.makedev(8, 17))) is None


# --- the plan ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        {"directory": ""},
        {"file_bytes": 0},
        {"file_bytes": 2 << 30},
        {"file_bytes": (4 << 20) + 4096},
        {"request_bytes": 100},
        {"request_bytes": 8 << 20},
        {"rounds": 0},
        {"rounds": 21},
    ],
)
def test_wrong_options_have_a_sentence(wrong: dict[str, Any]) -> None:
    with pytest.raises(MeasureError):
        Storage(**{"directory": "/mnt", **wrong})


def test_the_plan_stays_within_a_tenth_of_the_link_and_within_the_time() -> None:
    limits = of_storage(limits_of())
    storage = Storage("/mnt/backup")
    storage.place = place()
    storage.link = storage_link(
        replace(clusters.cluster(2), nodes=(replace(clusters.node(1), routes=(Route("default", "eth1"),)),)), place()
    )
    load = storage.plan((), limits)
    assert (storage.file_bytes(limits), load.peak_bps) == (256 << 20, 1e9)
    assert "10.0% of eth1, through which 10.40.0.200 is reached" in " ".join(load.notes)
    storage.link = None  # a link of 1 Gb/s is assumed, so the file is smaller
    slow = storage.plan((), limits)
    assert (storage.file_bytes(limits), slow.peak_bps) == (128 << 20, 100e6)
    assert slow.seconds < limits.whole_s


# --- the file ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def budget() -> Budget:
    read, _ = os.pipe()
    return Budget(Orders(read), 2000, 1e12, 1 << 40, 1.0)


def opened(directory: Path, budget: Budget) -> StorageFile:
    file = StorageFile()
    found = file.look({"directory": str(directory)}, budget)
    assert file.open({**found, "name": ".racwire-1", "request_bytes": 4096}, budget)["method"] in (DIRECT, FSYNC)
    return file


def transfer(file: StorageFile, budget: Budget, *, is_write: bool, end: int = 1 << 16) -> dict[str, Any]:
    order = {"is_write": is_write, "offset": 0, "end": end, "seconds": 60, "bits_per_s": 1e12}
    return file.transfer(order, budget)


def test_the_file_has_no_name_and_holds_what_was_written(tmp_path: Path, budget: Budget) -> None:
    file = opened(tmp_path, budget)
    for is_write in (True, False):
        done = transfer(file, budget, is_write=is_write)
        assert (done["offset"], len(done["times_us"]), done["error"]) == (1 << 16, 16, "")
        assert list(tmp_path.iterdir()) == []


def test_where_files_must_have_a_name_it_is_gone_at_once(
    tmp_path: Path, budget: Budget, monkeypatch: pytest.MonkeyPatch
) -> None:
    really, made = os.open, []

    def like_nfs(path: Any, flags: int, *words: Any, **named: Any) -> int:
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(errno.EOPNOTSUPP, "no")
        made.append(path)
        return really(path, flags, *words, **named)

    monkeypatch.setattr(os, "open", like_nfs)
    file = opened(tmp_path, budget)
    assert ".racwire-1" in made
    assert list(tmp_path.iterdir()) == []
    assert not transfer(file, budget, is_write=True)["error"]


def test_a_directory_that_was_replaced_since_is_not_used(tmp_path: Path, budget: Budget) -> None:
    (tmp_path / "first").mkdir()
    (tmp_path / "link").symlink_to("first")
    file = StorageFile()
    found = file.look({"directory": str(tmp_path / "link")}, budget)
    assert found["real"] == str(tmp_path / "first")
    (tmp_path / "first").rename(tmp_path / "second")
    (tmp_path / "first").symlink_to("second")
    order = {**found, "name": "x", "request_bytes": 4096}
    assert file.open(order, budget)["error"]
    (tmp_path / "first").unlink()
    (tmp_path / "first").mkdir()
    assert file.open(order, budget)["error"] == "the directory is another one than before"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
def test_an_error_of_the_storage_ends_a_pass_and_gives_the_room_back(
    tmp_path: Path, budget: Budget, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    file, really, left = opened(tmp_path, budget), os.pwrite, [3]

    def full(*words: Any) -> int:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(number, os.strerror(number))
        return really(*words)

    monkeypatch.setattr(os, "pwrite", full)
    done = transfer(file, budget, is_write=True)
    assert (done["errno"], done["offset"], done["error"]) == (number, 3 * 4096, os.strerror(number))
    assert os.fstat(file._file).st_size == 0


def test_a_file_system_that_refuses_o_direct_is_synchronised(
    tmp_path: Path, budget: Budget, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, really = opened(tmp_path, budget), os.pwrite
    refused: list[bool] = []
    synced: list[int] = []

    def first_refused(*words: Any) -> int:
        if not refused:
            refused.append(True)
            raise OSError(errno.EINVAL, "no")
        return really(*words)

    monkeypatch.setattr(os, "pwrite", first_refused)
    monkeypatch.setattr(os, "fdatasync", synced.append)
    done = transfer(file, budget, is_write=True)
    assert (done["method"], done["error"], len(synced)) == (FSYNC, "", 16)


def test_a_stop_ends_a_pass_between_two_requests(
    tmp_path: Path, budget: Budget, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = opened(tmp_path, budget)
    taken = []

    def take(packets: int, size: int) -> None:
        taken.append(size)
        if len(taken) == 3:
            raise StoppedError("racwire was stopped")

    monkeypatch.setattr(budget, "take", take)
    done = transfer(file, budget, is_write=True)
    assert (done["stopped"], len(done["times_us"])) == ("racwire was stopped", 2)
