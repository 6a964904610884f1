"""`measure storage DIR`: one file without a name is written and read, one request at a time, within a cap."""

from __future__ import annotations

import asyncio
import errno
import os
import secrets
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from checks.measure.load_limits import LoadLimits
from checks.measure.load_plan import LoadPlan, PlannedLoad
from checks.measure.load_refusals import LoadRefusal, standing_refusals
from checks.measure.measure_error import MeasureError
from checks.measure.near_process import NearProcess, SenderError
from checks.measure.preparing import Prepared, measuring_elsewhere, name_of, open_change, read_more
from checks.measure.storage_place import StoragePlace, storage_link, storage_refusals
from checks.measure.testbed import Experiment, Testbed
from checks.model.facts import Cluster
from checks.model.measurement import MeasuredPath, MeasuredStorage, StorageRound
from checks.model.percentiles import percentile
from checks.model.settings import Settings
from checks.model.wording import lasting
from checks.sources.database.secret import Secret
from checks.traffic.discovery import find_cluster

USUAL_BYTES, LEAST_BYTES, MOST_BYTES = 256 << 20, 4 << 20, 1 << 30
USUAL_REQUEST, MOST_REQUEST = 1 << 20, 4 << 20
USUAL_ROUNDS, MOST_ROUNDS = 5, 20
PAGE = 4096
_SLICE_S = 0.5
"""Seconds of an order: after each, the progress is shown."""
_LOOK_S = 5.0
"""Seconds until a directory that does not answer is given up."""
_FILL = 0.9
"""The part of the time of the whole measurement that a file of the usual size may take."""


class Storage(Experiment):
    """The measurement of one directory."""

    kind = "storage"

    def __init__(
        self,
        directory: str,
        *,
        file_bytes: int | None = None,
        request_bytes: int = USUAL_REQUEST,
        rounds: int = USUAL_ROUNDS,
    ) -> None:
        """`file_bytes`: None for 256 MB, or less where the cap makes that last too long. Raises MeasureError."""
        if not directory:
            raise MeasureError("Name the directory: racwire measure storage DIR.")
        if not PAGE <= request_bytes <= MOST_REQUEST or request_bytes % PAGE:
            raise MeasureError("A request has from 4k to 4m bytes, a multiple of 4096: O_DIRECT demands that.")
        if file_bytes is not None and (not LEAST_BYTES <= file_bytes <= MOST_BYTES or file_bytes % request_bytes):
            raise MeasureError("The file has from 4m to 1024m bytes, a multiple of a request.")
        if not 1 <= rounds <= MOST_ROUNDS:
            raise MeasureError(f"The rounds are from 1 to {MOST_ROUNDS}.")
        self.directory = directory
        self.request_bytes = request_bytes
        self.rounds = rounds
        self._wanted_bytes = file_bytes
        self.place: StoragePlace | None = None
        self.link: MeasuredPath | None = None
        self._method = ""
        self._found: list[StorageRound] = []

    def plan(self, paths: Sequence[MeasuredPath], limits: LoadLimits) -> PlannedLoad:
        """Return what will be written and read at most. Raises MeasureError."""
        place, rate = self._known_place, self.bits_per_s(limits) / 8
        size = self.file_bytes(limits)
        whole = 2 * size * self.rounds
        if whole > limits.most_bytes and self._wanted_bytes is not None:
            raise MeasureError(
                f"This writes and reads {whole / 1e9:,.1f} GB, and may transfer {limits.most_bytes / 1e9:,.1f} GB: "
                "choose a smaller file or fewer rounds."
            )
        return PlannedLoad(
            title=(
                f"one file of {_size(size)} in {place.real}, written and read {self.rounds} times in requests of "
                f"{_size(self.request_bytes)}, one at a time"
            ),
            seconds=whole / rate + 2,
            packets=0,
            wire_bytes=whole,
            peak_packets_per_s=0,
            peak_bps=rate * 8,
            notes=tuple(self._notes(limits, whole)),
        )

    def _notes(self, limits: LoadLimits, whole: int) -> Sequence[str]:
        place, link = self._known_place, self.link
        rate = self.bits_per_s(limits)
        notes = [f"{place.what()}; {place.free / 1e9:,.1f} of {place.size / 1e9:,.1f} GB are free."]
        cap = f"At most {rate / 8e6:,.1f} MB/s ({whole / 1e9:,.1f} GB in all)"
        if not place.is_over_a_network:
            notes.append(f"{cap}. This is a local disk or memory: it serves for practice, and shows no network.")
        elif link is None or not link.speed_mbps:
            notes.append(f"{cap}: the link to the storage is not known, so one of 1 Gb/s is assumed.")
        else:
            share = rate / (link.speed_mbps * 1e6)
            notes.append(f"{cap}: {share:.1%} of {link.interface}, through which {link.target} is reached.")
        if place.is_over_a_network:
            notes.append(
                "All that uses this storage shares its network and its disks with the measurement: choose a quiet "
                "time. Reads may come from the server's cache."
            )
        notes.append(
            "The file has no name while it is used, so that nothing remains, however racwire ends."
            + (
                " Only if this node itself crashes meanwhile, a file .nfs... may stay in the directory."
                if place.file_system.startswith("nfs")
                else ""
            )
        )
        notes.append(
            "racwire looked for files of a database by their names in this directory only: whether one uses another "
            "directory of this file system is not known."
        )
        return notes

    def file_bytes(self, limits: LoadLimits) -> int:
        """Return the size of the file."""
        if self._wanted_bytes is not None:
            return self._wanted_bytes
        size, rate = USUAL_BYTES, self.bits_per_s(limits) / 8
        most = min(limits.most_bytes, limits.whole_s * _FILL * rate)
        while size > LEAST_BYTES and 2 * size * self.rounds > most:
            size //= 2
        return size

    def bits_per_s(self, limits: LoadLimits) -> float:
        """Return the cap. Where there is no network, that on a link of 10 Gb/s."""
        if not self._known_place.is_over_a_network:
            return limits.bits_per_s(10_000)
        return limits.bits_per_s(self.link.speed_mbps if self.link else None)

    @property
    def _known_place(self) -> StoragePlace:
        assert self.place is not None, "the directory has not been judged"
        return self.place

    async def run(self, testbed: Testbed) -> None:
        """Measure until done. Raises HaltedError; `result` then has the passes so far."""
        place = self._known_place
        opened = await testbed.order(
            {
                "order": "storage_open",
                "real": place.real,
                "device": place.device,
                "inode": place.inode,
                "name": f".racwire-{secrets.token_hex(8)}",
                "request_bytes": self.request_bytes,
            },
            _LOOK_S,
            hangs=self._hangs,
        )
        self._demand(opened, testbed)
        self._method = opened["method"]
        for number in range(self.rounds):
            for is_write in (True, False):
                await self._pass(testbed, number, is_write)
        testbed.demand_running()

    async def _pass(self, testbed: Testbed, number: int, is_write: bool) -> None:
        """Go through the file once."""
        size, done, total = self.file_bytes(testbed.limits), 2 * number + (not is_write), 2 * self.rounds
        times: list[float] = []
        offset, seconds, at = 0, 0.0, time.time()
        try:
            while offset < size:
                rate = f"{offset / seconds / 1e6:,.0f} MB/s " if seconds else ""
                testbed.progress(f"{rate}{'to' if is_write else 'from'} {self._known_place.real}", done, total)
                found = await testbed.order(
                    {
                        "order": "storage_transfer",
                        "is_write": is_write,
                        "offset": offset,
                        "end": size,
                        "seconds": _SLICE_S,
                        "bits_per_s": self.bits_per_s(testbed.limits),
                    },
                    _SLICE_S,
                    hangs=self._hangs,
                )
                times += found["times_us"]
                offset, self._method = found["offset"], found["method"]
                seconds += found["seconds"]
                self._demand(found, testbed)
                testbed.demand_running()
        finally:
            if times:
                self._found.append(
                    StorageRound(
                        round=number,
                        is_write=is_write,
                        at=at,
                        seconds=seconds,
                        transferred=offset,
                        p50_us=percentile(times, 0.50),
                        p99_us=percentile(times, 0.99),
                    )
                )

    def _demand(self, found: dict[str, Any], testbed: Testbed) -> None:
        """Raise HaltedError where an order met an error of the storage."""
        if error := found.get("error"):
            real = self._known_place.real
            number = found.get("errno")
            if number in (errno.ENOSPC, errno.EDQUOT):
                what = "The file system" if number == errno.ENOSPC else "The quota of this user"
                testbed.halt(
                    f"{what} was full after {found['offset'] / 1e6:,.0f} MB in {real}; the file is gone.", is_harm=True
                )
            else:
                testbed.halt(f"{real}: {error}.", is_harm=number is not None)
            testbed.demand_running()

    @property
    def _hangs(self) -> str:
        return f"A request to {self._known_place.real} had no answer for {_LOOK_S:.0f} s: its storage hangs."

    def result(self) -> MeasuredStorage:
        """Return the passes so far."""
        place = self._known_place
        return MeasuredStorage(
            directory=place.real,
            file_system=place.file_system,
            server=place.mount.source if place.mount else "",
            method=self._method,
            request_bytes=self.request_bytes,
            rounds=tuple(self._found),
        )


async def prepare_storage(
    experiment: Storage, limits: LoadLimits, settings: Settings, password: Secret | None = None
) -> Prepared:
    """Look at the directory, read the cluster, and plan. Raises MeasureError where it is not possible."""
    cluster, place = await asyncio.gather(
        find_cluster(settings, password=password), _looked_at(experiment.directory), return_exceptions=True
    )
    for one in (place, cluster):
        if isinstance(one, BaseException):
            raise one
    assert isinstance(place, StoragePlace)
    assert isinstance(cluster, Cluster)
    experiment.place, experiment.link = place, storage_link(cluster, place)
    peers = [node.name for node in cluster.read_nodes() if node.name != cluster.local_node]
    found, setups, blocks_per_s = await read_more(cluster, peers, settings, password)
    cluster = replace(cluster, setups=setups)
    is_lab = "RACWIRE_LAB" in os.environ
    load = experiment.plan((), limits)
    if load.seconds > limits.whole_s:
        raise MeasureError(
            f"This takes up to {lasting(load.seconds)}, and may take {lasting(limits.whole_s)}: choose a smaller file, "
            "fewer rounds, or a longer time with --whole."
        )
    refusals: list[LoadRefusal] = [
        *storage_refusals(place, experiment.file_bytes(limits), is_lab=is_lab),
        *standing_refusals(cluster, change=open_change(settings), is_lab=is_lab, link_share=limits.link_share),
        *measuring_elsewhere(found),
    ]
    plan = LoadPlan(name_of(cluster, settings.cluster.name), experiment.kind, (), load, limits, blocks_per_s)
    links = (experiment.link,) if experiment.link else ()
    return Prepared(cluster, plan, {}, {}, tuple(refusals), links)


async def _looked_at(directory: str) -> StoragePlace:
    """Look at the directory in a process of its own, which may hang. Raises MeasureError."""
    mountinfo, asked = _mounts(), _absolute(directory)
    try:
        looker = await NearProcess.open(
            packets_per_s=1, bits_per_s=1, most_bytes=0, cpu_share=1, rooms={}, stop_bytes=0
        )
    except SenderError as error:
        raise MeasureError(str(error)) from None
    try:
        look = await looker.order({"order": "storage_look", "directory": asked}, _LOOK_S)
    except SenderError:
        raise MeasureError(f"{asked} did not answer within {_LOOK_S:.0f} s: its server hangs.") from None
    finally:
        await looker.close()
    if "error" in look:
        raise MeasureError(f"{asked} cannot be used: {look['error']}.")
    device = look["device"]
    return StoragePlace.of(asked, look, mountinfo, _disk_of(f"{os.major(device)}:{os.minor(device)}"))


def _mounts() -> str:
    return Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="replace")


def _absolute(directory: str) -> str:
    return os.path.abspath(directory)


def _disk_of(number: str) -> str:
    """Return where the disk of a block device is in /sys, and those below it; empty where there is none."""
    block = Path("/sys/dev/block") / number
    if not block.exists():
        return ""
    return " ".join(os.path.realpath(one) for one in (block, *sorted(block.glob("slaves/*"))))


def _size(size: int) -> str:
    return f"{size >> 20:,} MB" if size % (1 << 20) == 0 else f"{size >> 10:,} KB"
