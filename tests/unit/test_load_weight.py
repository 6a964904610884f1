"""How heavy the load is: by the share of a link, by pings of busy and quiet times, and when that cannot be told."""

import pytest

from checks.model.facts import Unknown
from checks.model.interconnect_load import Queueing, Weight
from checks.report.load_section import load_section
from checks.rules.load_of_run import interconnect_load
from checks.rules.load_weight import PingedSample, UsedLink, load_weight_text, weigh
from checks.traffic.samples import InterfaceCounts, LatencySample, Link, Links, NodeSample
from checks.traffic.weighing import weight_of_samples
from tests.fixtures.databases import activity, asked, change, counters, own_activity, system


def link(received=5.0, sent=2.0):
    return UsedLink("eth1 of rac2", received, sent, "14:02:10", 90.0)


def pings(quiet_ms, busy_ms, late_ms=None, busy_percent=80.0, each=30, answered=10):
    """Samples of quiet and busy times, in turns; one of five busy samples has a late ping."""
    for number in range(each):
        yield PingedSample(4.0, 8328, answered, quiet_ms, quiet_ms * 1.2)
        late = late_ms if late_ms and not number % 5 else busy_ms * 1.2
        yield PingedSample(busy_percent, 8328, answered, busy_ms, late)
        yield PingedSample(busy_percent / 2, 8328, answered, quiet_ms, quiet_ms)


@pytest.mark.parametrize(
    ("percent", "weight"),
    [(5.0, Weight.LIGHT), (34.0, Weight.MODERATE), (66.0, Weight.MODERATE), (67.0, Weight.HEAVY)],
)
def test_each_direction_counts_by_itself(percent, weight):
    assert weigh(link(percent, 1.0), ()).weight is weight
    assert weigh(link(1.0, percent), ()).weight is weight


@pytest.mark.parametrize(
    ("busy_ms", "late_ms", "weight"),
    [
        (0.12, None, Weight.LIGHT),
        (0.2, None, Weight.MODERATE),
        (0.31, None, Weight.HEAVY),
        (0.12, 4.0, Weight.MODERATE),
    ],
)
def test_pings_that_wait_make_a_load_heavier_than_its_mean_share(busy_ms, late_ms, weight):
    assert weigh(link(), tuple(pings(0.1, busy_ms, late_ms))).weight is weight


def test_the_reason_has_the_figures_with_their_time():
    assert load_weight_text(weigh(link(), tuple(pings(0.1, 0.5, 9.0)))) == (
        "The load is heavy for the private network: pings take longer at busy times. eth1 of rac2 receives 5 % and "
        "sends 2 % of its link, on average over 90 s (as of 14:02:10). Pings of 8,328 B took 0.5 ms in the busiest "
        "third of the time (80 % full) and 0.1 ms in the quietest (4 %); one of 100 at least 9 ms, and 0.12 ms."
    )
    assert load_weight_text(weigh(link(71.0), ())) == (
        "The load is heavy for the private network: eth1 of rac2 receives 71 % and sends 2 % of its link, on average "
        "over 90 s (as of 14:02:10): it is busy 7 of 10 times. Whether packets queue is not known: there are no pings "
        "of busy and quiet times; `racwire record --probe` makes them."
    )
    assert load_weight_text(weigh(None, ())).startswith("Cannot tell how heavy the load is")


@pytest.mark.parametrize(
    ("samples", "reason"),
    [(pings(0.1, 0.5, each=9), "too few"), (pings(0.1, 0.5, busy_percent=8.0), "equally full")],
)
def test_few_pings_and_an_even_load_show_no_queue(samples, reason):
    found = weigh(link(), tuple(samples))
    assert isinstance(found.queueing, Unknown)
    assert reason in found.queueing.reason
    assert found.weight is Weight.LIGHT


def test_no_percentile_of_fewer_than_100_pings():
    few = weigh(link(), tuple(pings(0.1, 0.5, each=30, answered=3)))
    assert isinstance(few.queueing, Queueing)
    assert few.queueing.busy_p99_ms is None


# --- of samples, and of a run -----------------------------------------------------------------------------------------

_NETS = {"eth1": "192.168.10.0/24", "eth2": "192.168.11.0/24"}


def recorded(seconds=60):
    """eth2 of rac2 is full in each second third of the time, and pings to it wait then; all else is quiet."""
    nics = tuple(Link(nic, speed_mbps=100, network=net) for nic, net in _NETS.items())
    events = {}
    for second in range(seconds):
        full = second % 3 == 1
        for node in ("rac1", "rac2"):
            eth2 = 12_000_000 if full and node == "rac2" else 500_000
            both = {"eth1": InterfaceCounts(rx_bytes=600_000), "eth2": InterfaceCounts(rx_bytes=eth2)}
            sample = NodeSample(node, 1000.0 + second, 1.0, both)
            events.setdefault(sample.source, []).append(sample)
        for net in _NETS.values():
            us = 20_000.0 if full and net == _NETS["eth2"] else 100.0
            ping = LatencySample(net, "rac2", 8328, 1000.2 + second, 1.0, 10, 10, us, us, us)
            events.setdefault(ping.source, []).append(ping)
    return events, {node: Links(node, 1000.0, nics) for node in ("rac1", "rac2")}


def test_the_link_whose_packets_queue_is_the_heaviest_though_another_is_fuller():
    events, links = recorded()
    mine = weight_of_samples(events, links, "rac1")
    assert (mine.place, mine.weight, mine.by_share) == ("eth2 of rac1", Weight.HEAVY, Weight.LIGHT)
    assert isinstance(mine.queueing, Queueing)
    assert (mine.queueing.quiet_ms, mine.queueing.busy_ms, round(mine.queueing.busy_percent)) == (0.1, 20.0, 96)
    other = weight_of_samples(events, links, "rac2")
    assert (other.place, other.weight, round(other.received_percent)) == ("eth2 of rac2", Weight.HEAVY, 35)


def test_the_time_of_a_recording_and_links_without_a_speed_are_no_error():
    events, links = recorded(3)
    assert weight_of_samples(events, {}, "rac1").weight is Weight.NOT_KNOWN
    dumb = {node: Links(node, 0.0, tuple(Link(nic, network=net) for nic, net in _NETS.items())) for node in links}
    assert weight_of_samples(events, dumb, "rac1").weight is Weight.NOT_KNOWN
    never = [NodeSample("rac1", 1e300, 1.0, {"eth1": InterfaceCounts(rx_bytes=5)})]
    assert weight_of_samples({never[0].source: never}, links, "rac1").weight is Weight.NOT_KNOWN


def test_a_run_has_the_weight_in_its_section_and_its_json():
    busy = own_activity(1, {"DB time": 3000, "cluster wait time": 30})
    nics = system({"eth2": {"rx_bytes": 27_000_000_000, "tx_bytes": 0}})
    full = change("rac2")
    full = type(full)(**{**{name: getattr(full, name) for name in full.__struct_fields__}, "machine": nics})
    built = asked(activity=activity(2, busy), counters=counters(2, full))
    load = interconnect_load(built)
    assert (load.load_weight.weight, load.load_weight.place) == (Weight.HEAVY, "eth2 of rac2")
    section = load_section(built)
    assert section is not None
    assert section.notes[0].startswith("The load is heavy for the private network: eth2 of rac2 receives 72 %")
