"""The fragmentation of a database block into packets."""

import pytest

from checks.model.packet_sizes import fragments_of


@pytest.mark.parametrize(
    ("block", "mtu", "packets"),
    [(8192, 1500, 6), (8192, 9000, 1), (16384, 9000, 2), (32768, 9000, 4), (2048, 1500, 2), (8192, 65520, 1)],
)
def test_a_block_is_fragmented_as_the_kernel_fragments_it(block, mtu, packets):
    assert fragments_of(block, mtu) == packets


def test_an_mtu_too_small_for_a_payload_makes_no_fragments():
    assert fragments_of(8192, 20) == 1
