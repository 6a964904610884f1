"""The fragmentation of a database block into packets."""

import re
from pathlib import Path

import msgspec
import pytest

from checks.model.facts import NotAsked, Unknown
from checks.model.packet_sizes import counted_bytes_of, fragments_of, wire_bytes_of
from checks.predict.topics import TOPICS
from tests.fixtures.clusters import cluster
from tests.fixtures.databases import database

_JUMBO = next(topic for topic in TOPICS if topic.name == "jumbo")
_PAGE = Path(__file__).parents[2] / "docs" / "experiment.md"


@pytest.mark.parametrize(
    ("block", "mtu", "packets"),
    [(8192, 1500, 6), (8192, 9000, 1), (16384, 9000, 2), (32768, 9000, 4), (2048, 1500, 2), (8192, 65520, 1)],
)
def test_a_block_is_fragmented_as_the_kernel_fragments_it(block, mtu, packets):
    assert fragments_of(block, mtu) == packets


@pytest.mark.parametrize(
    ("read", "size"),
    [
        (database(block_size_bytes=16384), 16384),
        (database(block_size_bytes=None), None),
        (database(block_size_bytes=0), None),
        (Unknown("ORA-12541"), None),
        (NotAsked("-"), None),
    ],
)
def test_the_block_size_is_that_of_the_database_or_not_known(read, size):
    assert msgspec.structs.replace(cluster(), database=read).block_size_bytes == size


def test_an_mtu_too_small_for_a_payload_makes_no_fragments():
    assert fragments_of(8192, 20) == 1


def test_a_nic_counts_neither_preamble_nor_checksum_nor_gap():
    assert wire_bytes_of(8192, 9000) - counted_bytes_of(8192, 9000) == 24
    assert wire_bytes_of(8192, 1500) - counted_bytes_of(8192, 1500) == 6 * 24


@pytest.mark.parametrize(
    "text", [_PAGE.read_text(encoding="utf-8"), " ".join(_JUMBO.paragraphs)], ids=["experiment.md", "explain jumbo"]
)
def test_every_page_has_the_same_bytes_of_a_block(text):
    (found,) = re.findall(r"([0-9,]+) bytes on the wire at MTU 1500 and ([0-9,]+) at (?:MTU )?9000", text)
    assert found == tuple(f"{wire_bytes_of(8192, mtu):,}" for mtu in (1500, 9000))
