"""What the load asks of the interconnect, on the practice cluster: the waits, messages and users that are there."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from checks.model.interconnect_load import InterconnectLoad, LoadKind, WireTime
from checks.rules.load_of_run import interconnect_load
from tests.lab.lab_support import needs_namespaces, needs_nft
from tests.lab.practice_command import Practice

pytestmark = [
    needs_namespaces,
    needs_nft,
    pytest.mark.beyond_sample,
    pytest.mark.skipif(
        any(find_spec(name) is None for name in ("duckdb", "sqlglot", "cryptography")),
        reason="THE LOAD OF THE DATABASE WAS NOT TESTED: the extra `lab` is not installed",
    ),
]


@pytest.fixture
def practice(tmp_path: Path) -> Iterator[Practice]:
    practice = Practice(tmp_path / "lab", 2, 9000, database=True, ping_every_s=1.25)
    yield practice
    practice.down()


def load_of_check(practice: Practice) -> InterconnectLoad:
    load = interconnect_load(practice.check("--interval", "5").cluster)
    assert isinstance(load, InterconnectLoad)
    return load


def test_lost_blocks_raise_the_share_of_the_waits_that_the_load_has(practice: Practice) -> None:
    practice.until_blocks_flow()
    load = load_of_check(practice)
    assert isinstance(load.wire, WireTime)
    # The sessions of the practice instances wait for blocks, use the CPU, and do nothing else.
    assert 0 < load.wire.cluster_s < load.wire.db_time_s
    assert load.wire.low_percent <= load.wire.high_percent < 100
    assert isinstance(load.clients, tuple)
    rates = {client.client: client for client in load.clients}
    (own,) = (x for x in load.exchanges if x.instance == "prac1")
    assert own.cr_received is not None
    assert own.current_received is not None
    blocks = own.cr_received + own.current_received
    assert rates["cache"].received == pytest.approx(8192 * blocks, rel=0.25)
    assert rates.keys() == {"cache", "dlm", "ipq"}
    assert isinstance(load.services, tuple)
    (service,) = load.services
    assert service.instances == ("prac1", "prac2")
    assert service.db_time_s == pytest.approx(load.wire.db_time_s, rel=0.25)

    practice.lab("break", "loss")
    lossy = load_of_check(practice)
    assert isinstance(lossy.wire, WireTime)
    assert lossy.wire.cluster_percent > max(2 * load.wire.cluster_percent, 50)
    assert not isinstance(lossy.load_class, LoadKind)
    assert "prac" in practice.inside("report", "--format", "openmetrics", "--interval", "5").out
