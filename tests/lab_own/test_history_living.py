"""Two snapshots of each running instance follow the generated history: at its start, and at the current time."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal

from checks.model.facts import History
from racwire_lab.database.backend import Cancellation
from racwire_lab.database.live import InstanceState, LiveDevice, Ping, Transfer, Waits
from racwire_lab.history.history_plan import healthy_week
from tests.unit.history_support import Living, Practice

NOW = datetime.now().replace(microsecond=0)
NAMES = ((1, "prod1", "rac1"), (2, "prod2", "rac2"))


def living(number: int, lost: int = 0) -> InstanceState:
    other = str(3 - number)
    return InstanceState(
        instance=number,
        name=f"prod{number}",
        host=f"rac{number}",
        startup_time=(NOW - timedelta(minutes=2)).timestamp(),
        taken_at=NOW.timestamp(),
        statistics={"gc blocks lost": lost, "gc cr blocks received": 40, "gc current blocks received": 60},
        events={"gc cr block lost": Waits(lost, lost * 500), "log file sync": Waits(3, 30, "Commit")},
        messages={"gcs msgs received": 7},
        transfers={other: Transfer(lost=lost, cr_block=40, current_block=60)},
        pings={other: Ping(count_500b=4, wait_time_500b=900, count_8k=4, wait_time_8k=1600)},
        devices=[LiveDevice("eth1", f"10.9.0.{number}", "255.255.255.0", 1500, receive_dropped=2)],
        clients={"cache": (10, 20)},
    )


def test_the_default_of_the_lab_is_a_healthy_week_with_a_restart_and_a_missing_snapshot() -> None:
    practice = Practice(healthy_week(NOW - timedelta(minutes=5), NAMES))
    history = practice.history(days=7)
    practice.close()
    assert isinstance(history, History)
    assert history.losses == ()
    assert [(i.restarts, i.missing_snapshots) for i in history.instances] == [(0, 1), (1, 0)]
    assert 160 * 3600 < history.instances[0].seconds < 169 * 3600


def test_losses_of_the_running_instances_are_the_last_losses_of_the_history() -> None:
    source = Living(living(1), living(2, lost=5))
    practice = Practice(healthy_week(NOW - timedelta(minutes=5), NAMES), living=source)
    for awr in (True, False):
        history = practice.history(awr=awr, days=7)
        assert isinstance(history, History)
        assert history.end == NOW.isoformat()
        (loss,) = history.losses
        assert (loss.instance, loss.lost, loss.last_end) == (2, 5, NOW.isoformat())
        assert [i.restarts for i in history.instances] == [1, 2]
    source.all = (living(1), living(2, lost=9))
    history = practice.history(days=7)
    practice.close()
    assert isinstance(history, History)
    assert [loss.lost for loss in history.losses] == [9]
    assert isinstance(history.transfers, tuple)
    assert [(t.receiver, t.sender, t.lost) for t in history.transfers if t.lost] == [(2, 1, 9)]
    assert isinstance(history.devices, tuple)
    assert (1, "10.9.0.1", 1500, 2) in [(d.instance, d.ip, d.mtu, d.receive_dropped) for d in history.devices]


class Losing(Living):
    """Instance 2 has lost more blocks at each query."""

    lost = 0

    def states(self, scope: Literal["here", "everywhere"], cancellation: Cancellation) -> tuple[InstanceState, ...]:
        self.lost += 5
        return living(1), living(2, self.lost)


def test_statements_on_one_history_agree_while_the_instances_run() -> None:
    practice = Practice(healthy_week(NOW - timedelta(minutes=5), NAMES), living=Losing())
    totals = []
    for _ in range(2):
        history = practice.history(days=7)
        assert isinstance(history, History)
        assert isinstance(history.transfers, tuple)
        (total,) = {
            sum(loss.lost for loss in history.losses),
            sum(period.lost for period in history.periods),
            sum(transfer.lost for transfer in history.transfers),
            sum(instance.statistics["gc blocks lost"] for instance in history.instances),
        }
        totals.append(total)
    practice.close()
    assert 0 < totals[0] < totals[1]
