"""The frames by size of a node, and which of them are blocks: with their sentence, and the reasons where they are not
known."""

import msgspec
import pytest

from checks.model.facts import DriverCounters, Unknown
from checks.report.frame_section import frame_section, frame_sentence
from checks.report.markdown import to_markdown
from checks.rules.frame_sizes import frame_sizes
from checks.rules.frame_users import node_frames
from tests.fixtures.clusters import cluster, node, with_interface
from tests.fixtures.databases import activity, asked, change, counters, database, own_activity, system
from tests.fixtures.reports import report_of

SIZES = ("64", "127", "255", "511", "1023", "1522", "big")
IN_ONE = (0, 300, 200, 100, 0, 0, 1_400)
IN_SIX = (0, 300, 200, 100, 700, 3_500, 0)


def built(frames, *, mtu=9000, blocks=2_800, silent=False, **groups):
    """Two nodes whose two NICs count these frames each way, and instances that exchanged so many blocks."""
    counts = {f"port.{way}_size_{end}": n for way in ("rx", "tx") for end, n in zip(SIZES, frames, strict=True)}
    nics = tuple(DriverCounters(name, {} if silent and name == "eth2" else counts, "i40e") for name in ("eth1", "eth2"))
    nodes = [with_interface(with_interface(node(n), "eth2", mtu=mtu), "eth1", mtu=mtu) for n in (1, 2)]
    changes = []
    for name in ("rac1", "rac2"):
        machine = msgspec.structs.replace(system(), drivers=nics)
        bytes_ = {"rx_bytes": 12_000_000, "tx_bytes": 12_000_000}
        counted = tuple(
            msgspec.structs.replace(nic, counts={**nic.counts, **bytes_}) for nic in machine.nics if nic.name != "lo"
        )
        changes.append(msgspec.structs.replace(change(name), machine=msgspec.structs.replace(machine, nics=counted)))
    exchanged = {
        "gc cr blocks received": blocks,
        "gc current blocks received": 0,
        "gc cr blocks served": blocks,
        "gc current blocks served": 0,
        "gcs messages sent": 900,
        "ges messages sent": 0,
    }
    facts = asked(
        cluster(nodes),
        counters=counters(2, *changes),
        activity=activity(2, *(own_activity(n, exchanged) for n in (1, 2))),
    )
    return msgspec.structs.replace(facts, **{"database": database(), **groups})


def of_rac1(facts, way="rx"):
    return next(f for f in node_frames(facts, frame_sizes(facts)) if (f.node, f.way) == ("rac1", way))


def test_a_block_in_one_packet_is_one_frame_of_the_largest_class():
    found = of_rac1(built(IN_ONE))
    assert found.frames == 2 * sum(IN_ONE)
    assert found.blocks.by_least == {1523: 2_800}
    assert found.blocks.percent_of_bytes == pytest.approx(100 * 2_800 * (8192 + 42) / 24e6)


def test_a_block_in_six_packets_is_five_full_frames_and_a_small_one_also_where_a_larger_mtu_is_not_used():
    for mtu in (1500, 9000):
        found = of_rac1(built(IN_SIX, mtu=mtu, blocks=1_400))
        assert found.blocks.by_least == {1024: 7_000, 512: 1_400}


def test_the_sentence_names_the_sizes_the_blocks_and_the_messages():
    assert frame_sentence(of_rac1(built(IN_ONE), "tx")) == (
        "rac1 sent 4,000 frames in 30 s: 70 % are of 1,523 bytes or more and 15 % of 65 to 127 bytes. Blocks are an "
        "estimated 70 % of the frames and 96 % of the bytes; of the other 1,200, up to 900 are messages of GCS and GES."
    )


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        (built(IN_ONE, blocks=4_000), "rac1 has fewer frames of the size of blocks than its instances counted blocks."),
        (built(IN_ONE, silent=True), "do not count frames in the same classes"),
        (built(IN_ONE, activity=Unknown("The database hangs.")), "were not read"),
        (built(IN_ONE, database=database(block_size_bytes=None)), "The size of a block"),
    ],
)
def test_blocks_that_are_not_known_have_a_reason(facts, reason):
    found = of_rac1(facts)
    assert isinstance(found.blocks, Unknown)
    assert reason in found.blocks.reason
    assert "Which of them are blocks is not known: " in frame_sentence(found)
    assert not any("blocks" in title for title, _ in frame_section(facts).tables)


def test_the_section_has_the_histogram_the_blocks_and_the_nics_without_counters():
    section = frame_section(built(IN_ONE))
    (_, nics), (_, blocks) = section.tables
    assert ("eth1 of rac1", "from 1523", "70.0 %", "#######...", "70.0 %", "#######...") in nics.rows
    assert ("rac1", "in", "from 1523", "2,800", "0") in blocks.rows
    assert ("rac1", "in", "65-127", "0", "600") in blocks.rows
    silent = frame_section(built(IN_ONE, silent=True))
    assert any("eth2 of rac1 and eth2 of rac2 are not known: the driver i40e" in text for text in silent.notes)
    assert frame_section(cluster()) is None


def test_the_ticket_has_the_sentences():
    assert b"## Frames by size\n\n- rac1 received 4,000 frames" in to_markdown(report_of(built(IN_ONE)))
