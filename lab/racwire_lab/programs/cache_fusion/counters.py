"""Counters of an instance since its start, in the format of the database's views.

Times are stored in microseconds. The views have centiseconds in statistics, and microseconds in waits, transfers and
pings.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from .messages import BLOCK_BYTES, HEADER_BYTES, MESSAGE_BYTES, Block

_NAMES = {Block.CR: "cr", Block.CURRENT: "current"}
_CENTISECOND_US = 10_000
_ALWAYS_ZERO = (
    "gc blocks corrupt",
    "gc claim blocks lost",
    "gc cr block flush time",
    "gc current block flush time",
    "gc cr blocks flushed",
    "gc current blocks flushed",
)
"""Counters that stay zero: the daemons' blocks have no redo, arrive complete or not at all, and are never claimed."""


@dataclass
class Wait:
    """Waits of one event."""

    waits: int = 0
    time_us: int = 0
    histogram: dict[int, int] = field(default_factory=dict)

    def add(self, us: int) -> None:
        """Count one wait."""
        self.waits += 1
        self.time_us += us
        limit = 1 << max(us, 1).bit_length()
        self.histogram[limit] = self.histogram.get(limit, 0) + 1

    def as_document(self) -> dict[str, Any]:
        """Return the waits as `racwire_lab.database.live.Waits`."""
        histogram = {str(limit): self.histogram[limit] for limit in sorted(self.histogram)}
        return {"waits": self.waits, "time_us": self.time_us, "wait_class": "Cluster", "histogram": histogram}


@dataclass
class _Pings:
    latest_us: int = 0
    longest_us: int = 0
    count: int = 0
    time_us: int = 0

    def add(self, us: int) -> None:
        self.latest_us = us
        self.longest_us = max(self.longest_us, us)
        self.count += 1
        self.time_us += us

    def as_document(self, size: str) -> dict[str, int]:
        return {
            f"current_{size}": self.latest_us,
            f"max_{size}": self.longest_us,
            f"count_{size}": self.count,
            f"wait_time_{size}": self.time_us,
        }


@dataclass
class _Transfers:
    """Blocks from one sender."""

    lost: int = 0
    lost_us: int = 0
    blocks: dict[Block, int] = field(default_factory=lambda: dict.fromkeys(Block, 0))
    time_us: dict[Block, int] = field(default_factory=lambda: dict.fromkeys(Block, 0))

    def as_document(self) -> dict[str, int]:
        return {
            "lost": self.lost,
            "lost_time": self.lost_us,
            "cr_block": self.blocks[Block.CR],
            "cr_block_time": self.time_us[Block.CR],
            "current_block": self.blocks[Block.CURRENT],
            "current_block_time": self.time_us[Block.CURRENT],
        }


class Counters:
    """Counters of one instance; each start of the instance makes a new object."""

    def __init__(self, service: str = "") -> None:
        self._service = service
        self._started_ns = time.process_time_ns()
        self._scanned = 0
        self.events: dict[str, Wait] = {}
        self.transfers: dict[int, _Transfers] = {}
        self.pings: dict[int, dict[bool, _Pings]] = {}
        self.served_blocks = dict.fromkeys(Block, 0)
        self.preparing_us = dict.fromkeys(Block, 0)
        self.sending_us = dict.fromkeys(Block, 0)
        self.gcs_sent = self.gcs_received = self.ges_sent = self.ges_received = 0
        self.processing_us = 0
        self.passed_on = 0
        self.px_statements = self.px_slaves = 0
        self.px_messages_sent = self.px_messages_received = 0
        self.px_bytes_sent = self.px_bytes_received = 0
        self.false_losses = 0

    def received(self, sender: int, block: Block, us: int) -> None:
        """Count a block from that instance and the time since its request."""
        transfers = self.transfers.setdefault(sender, _Transfers())
        transfers.blocks[block] += 1
        transfers.time_us[block] += us

    def waited(self, block: Block, blocks: int, hops: int, us: int) -> None:
        """Count a request whose blocks have all arrived, and the time since the request."""
        self._scanned += blocks if blocks > 1 else 0
        event = "gc cr multi block request" if blocks > 1 else f"gc {_NAMES[block]} block {hops}-way"
        self.events.setdefault(event, Wait()).add(us)

    def lost(self, sender: int, block: Block, us: int) -> None:
        """Count a block that the instance sent and that did not arrive, and the time of the wait."""
        transfers = self.transfers.setdefault(sender, _Transfers())
        transfers.lost += 1
        transfers.lost_us += us
        self.events.setdefault(f"gc {_NAMES[block]} block lost", Wait()).add(us)

    def served(self, block: Block, blocks: int, preparing_us: int, sending_us: int) -> None:
        """Count blocks that were sent to another instance."""
        self.served_blocks[block] += blocks
        self.preparing_us[block] += preparing_us
        self.sending_us[block] += sending_us

    def ping(self, target: int, large: bool, us: int) -> None:
        """Count a ping that was answered."""
        self.pings.setdefault(target, {False: _Pings(), True: _Pings()})[large].add(us)

    def times_us(self) -> dict[str, int]:
        """Return the times of the sessions in microseconds: they wait for blocks, use the CPU, and do nothing else.

        The CPU time is that of the whole daemon: it has no background processes of its own.
        """
        cluster = sum(wait.time_us for wait in self.events.values())
        cpu = (time.process_time_ns() - self._started_ns) // 1000
        return {"DB time": cluster + cpu, "DB CPU": cpu, "cluster wait time": cluster, "user I/O wait time": 0}

    def of_service(self) -> dict[str, int]:
        """Return the values of V$SERVICE_STATS of the one service that sessions use."""
        return self.times_us() | self.received_blocks()

    def received_blocks(self) -> dict[str, int]:
        """Return the blocks received, by the name of their statistic."""
        return {
            f"gc {name} blocks received": sum(t.blocks[block] for t in self.transfers.values())
            for block, name in _NAMES.items()
        }

    def statistics(self) -> dict[str, int]:
        """Return the values of V$SYSSTAT by name."""
        found = dict.fromkeys(_ALWAYS_ZERO, 0) | self.received_blocks()
        found["gc blocks lost"] = sum(t.lost for t in self.transfers.values()) + self.false_losses
        for block, name in _NAMES.items():
            time_us = sum(t.time_us[block] for t in self.transfers.values())
            prepare = {"cr": "gc cr block build time", "current": "gc current block pin time"}[name]
            found[f"gc {name} block receive time"] = time_us // _CENTISECOND_US
            found[f"gc {name} blocks served"] = self.served_blocks[block]
            found[prepare] = self.preparing_us[block] // _CENTISECOND_US
            found[f"gc {name} block send time"] = self.sending_us[block] // _CENTISECOND_US
        found["gc cr blocks built"] = self.served_blocks[Block.CR]
        found["gc current blocks pinned"] = self.served_blocks[Block.CURRENT]
        found["gc kbytes sent"] = sum(self.served_blocks.values()) * BLOCK_BYTES // 1024
        found["gcs messages sent"] = self.gcs_sent
        found["ges messages sent"] = self.ges_sent
        found["PX remote messages sent"] = self.px_messages_sent
        found["PX remote messages recv'd"] = self.px_messages_received
        found["table scan blocks gotten"] = self._scanned
        found["user commits"] = sum(found[f"gc {name} blocks received"] for name in _NAMES.values())  # one for a block
        times = self.times_us()
        for name in ("DB time", "cluster wait time", "user I/O wait time"):
            found[name] = times[name] // _CENTISECOND_US
        return found

    def messages(self) -> dict[str, int]:
        """Return the values of V$DLM_MISC by name."""
        return {
            "gcs msgs received": self.gcs_received,
            "ges msgs received": self.ges_received,
            "gcs msgs process time(ms)": self.processing_us // 1000,
            "ges msgs process time(ms)": 0,
            "messages sent directly": self.gcs_sent + self.ges_sent - self.passed_on,
            "messages sent indirectly": self.passed_on,
            "messages flow controlled": 0,
            "msgs sent queued": 0,
            "msgs sent queue time (ms)": 0,
            "msgs received queued": self.gcs_received + self.ges_received,
            "msgs received queue time (ms)": 0,
        }

    def clients(self) -> dict[str, tuple[int, int]]:
        """Return the bytes sent and received by each client of the interconnect."""
        block = BLOCK_BYTES + HEADER_BYTES
        received = sum(sum(t.blocks.values()) for t in self.transfers.values())
        return {
            "cache": (block * sum(self.served_blocks.values()), block * received),
            "dlm": (
                MESSAGE_BYTES * (self.gcs_sent + self.ges_sent),
                MESSAGE_BYTES * (self.gcs_received + self.ges_received),
            ),
            "ipq": (
                self.px_bytes_sent + HEADER_BYTES * self.px_messages_sent,
                self.px_bytes_received + HEADER_BYTES * self.px_messages_received,
            ),
        }

    def as_document(self) -> dict[str, Any]:
        """Return the counters of `racwire_lab.database.live.InstanceState`."""
        return {
            "statistics": self.statistics(),
            "messages": self.messages(),
            "events": {name: wait.as_document() for name, wait in self.events.items()},
            "transfers": {str(sender): t.as_document() for sender, t in self.transfers.items()},
            "pings": {
                str(target): {**both[False].as_document("500b"), **both[True].as_document("8k")}
                for target, both in self.pings.items()
            },
            "clients": self.clients(),
            "services": {self._service: self.of_service()} if self._service else {},
            "px_statements": self.px_statements,
            "px_slaves": self.px_slaves,
            "cr_flushes": 0,
            "current_flushes": 0,
        }
