"""The commands of the pages that need a practice cluster print the output on the page."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from docs.generate.outputs import ON_LAB, ON_NODE, Workplace, blocks_of, pages, workplace, wrong_outputs
from tests.lab.lab_support import needs_namespaces, needs_nft

pytestmark = [pytest.mark.lab, needs_namespaces, needs_nft, pytest.mark.beyond_sample]


@pytest.fixture(scope="module")
def place() -> Iterator[Workplace]:
    with workplace() as one:
        yield one


@pytest.mark.parametrize("page", [page for page in pages() if blocks_of(page, ON_LAB, ON_NODE)])
def test_commands_print_the_output_on_the_page(place: Workplace, page: str) -> None:
    place.start(page)
    wrong = wrong_outputs(place, page, ON_LAB, ON_NODE)
    assert not wrong, "\n\n".join(wrong)
