"""Predictions from recordings: the arithmetic, its limits, and what racwire cannot tell."""

import dataclasses
import json
from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.facts import Unknown
from checks.model.interconnect_load import WireTime
from checks.model.packet_sizes import fragments_of, wire_bytes_of
from checks.predict.conclusions import LIMITS, SOFTIRQ, conclusions
from checks.predict.fragment_cost import fragment_costs
from checks.predict.measured_load import load_of
from checks.predict.packet_rates import Flow, packets_at
from checks.predict.predicting import predict
from checks.predict.prediction import Estimate
from checks.predict.receipt import receipt
from checks.rules.measured_moment import Moment
from checks.traffic.samples import InstanceSample
from tests.unit.compare_support import BEGIN, FakeRecording, recording
from tests.unit.measurement_support import path, sizes
from tests.unit.test_compare_command import written
from tui.cli.main import main

BLOCK = 8192
JUMBO = recording(2, mtu=9000, seconds=120)
STANDARD = recording(2, mtu=1500, seconds=120)


def estimates(prediction, name):
    return {one.subject: one for one in prediction.estimates if one.name == name}


def test_the_blocks_of_a_measured_load_become_one_packet_each():
    flow = Flow(packets=1300, bytes_=1_700_000, fragments=1200, datagrams=200)
    assert packets_at(flow, 1500, 9000, BLOCK) == (300, 300, 300)


def test_blocks_that_the_instances_count_become_six_packets_each():
    flow = Flow(packets=300, bytes_=1_700_000, fragments=0, datagrams=0, blocks=200)
    assert packets_at(flow, 9000, 1500, BLOCK) == (1300, 1300, 1300)


def test_without_a_database_the_mean_size_limits_the_number_of_blocks():
    flow = Flow(packets=300, bytes_=200 * 8370 + 100 * 242, fragments=0, datagrams=0)
    found = packets_at(flow, 9000, 1500, BLOCK)
    assert found.likely == pytest.approx(1300)
    assert found.low < 1300 < found.high


def test_datagrams_of_another_size_than_a_block_have_limits():
    flow = Flow(packets=1200, bytes_=1_700_000, fragments=1200, datagrams=100)  # 16 KB messages: 12 fragments
    found = packets_at(flow, 1500, 9000, BLOCK)
    assert (found.low, found.high) == (200, 200)
    assert packets_at(flow, 1500, 1500, BLOCK).likely == pytest.approx(1200)


@given(
    blocks=st.floats(0, 1e5),
    messages=st.floats(0, 1e5),
    size=st.sampled_from((2048, 4096, 8192, 16_384, 32_768)),
    before=st.sampled_from((1500, 4000, 9000)),
    after=st.sampled_from((1500, 4000, 9000)),
)
def test_a_flow_of_blocks_and_messages_is_predicted_for_any_mtus(blocks, messages, size, before, after):
    frames = fragments_of(size, before)
    flow = Flow(
        packets=blocks * frames + messages,
        bytes_=blocks * (size + 136 + 28 + 34 * frames) + messages * 242,
        fragments=blocks * frames if frames > 1 else 0,
        datagrams=blocks if frames > 1 else 0,
        blocks=blocks,
    )
    found = packets_at(flow, before, after, size)
    assert found.low <= found.likely * (1 + 1e-9) + 1e-9
    assert found.likely <= found.high * (1 + 1e-9) + 1e-9
    assert found.likely == pytest.approx(blocks * fragments_of(size, after) + messages, rel=1e-6, abs=1e-6)


def test_the_headers_that_jumbo_frames_save_are_few_bytes_of_a_block():
    before, after = (wire_bytes_of(BLOCK, mtu) for mtu in (1500, 9000))
    assert before - after == 5 * 58
    assert (before - after) / before == pytest.approx(0.033, abs=0.001)


@pytest.mark.parametrize(("measured", "after", "told"), [(STANDARD, 9000, JUMBO), (JUMBO, 1500, STANDARD)])
def test_a_prediction_is_what_the_same_load_has_at_the_other_mtu(measured, after, told):
    predicted = estimates(predict(load_of(measured), after), "packets in")
    truth = estimates(predict(load_of(told), after), "packets in")
    assert predicted.keys() == {"rac1", "rac2"}
    for node, one in predicted.items():
        assert one.after == pytest.approx(truth[node].now, rel=0.01)
        assert one.low <= truth[node].now <= one.high


def test_lost_blocks_fall_with_the_number_of_packets():
    prediction = predict(load_of(recording(3, mtu=1500, seconds=120, lost_per_s=10.0)), 9000)
    (one, _) = estimates(prediction, "lost blocks").values()
    assert one.now > 0.05
    assert one.after == pytest.approx(one.now / 6, rel=0.05)
    none = estimates(predict(load_of(STANDARD), 9000), "lost blocks")["rac1"]
    assert (none.now, none.after, none.low) == (0, 0, 0)
    assert none.high > 0  # nothing was lost in this time, which proves only so much


def test_soft_interrupts_are_an_interval_from_no_effect_to_the_full_effect():
    one = estimates(predict(load_of(STANDARD), 9000), "CPU in soft interrupts")["rac1"]
    assert one.low == one.after < one.now == one.high


def softirq(*measured, load=STANDARD, mtu=9000):
    """The predicted CPU time in soft interrupts by node, with these results in the recording."""
    own = FakeRecording(list(load.events()), cluster=load.header.cluster)
    at = datetime.fromtimestamp(BEGIN - 600, UTC).isoformat()
    own_results = tuple(msgspec.structs.replace(one, started_at=at) for one in measured)
    own.header = msgspec.structs.replace(load.header, measurements=own_results)
    return estimates(predict(load_of(own), mtu), "CPU in soft interrupts")


def test_the_measured_cost_of_a_packet_replaces_the_guess_from_soft_interrupts():
    guessed, found = softirq()["rac1"], softirq(sizes(frame_cpu_us=1.5))
    one = found["rac1"]
    packets = {e.name: e for e in predict(load_of(STANDARD), 9000).estimates if e.subject == "rac1"}
    saved = sum(packets[f"packets {way}"].now - packets[f"packets {way}"].after for way in ("in", "out"))
    assert one.now == guessed.now
    assert one.now - one.after == pytest.approx(saved * 1.5e-4, rel=0.05)
    assert guessed.low < one.low < one.after < one.high < guessed.high
    assert "`racwire measure sizes` at MTU 1500, 2027-01-15 07:50" in one.inputs["CPU time of a packet"]
    assert found["rac2"] == softirq()["rac2"]  # nothing was measured on rac2
    busy = softirq(sizes(disturbed="This node itself sent late."))["rac1"]
    assert (busy.after, busy.low, busy.high) == (guessed.after, guessed.low, guessed.high)
    assert busy.inputs["CPU time of a packet"] == "not used. Its own node was busy when it was measured."


@given(frame_cpu_us=st.floats(1.0, 20.0), mtu=st.sampled_from((1500, 4000, 9000)))
def test_the_cost_of_a_packet_lies_in_its_interval(frame_cpu_us, mtu):
    cost = fragment_costs(
        [sizes(mtu, frame_cpu_us=frame_cpu_us, noise_us=0.1, sizes=(64, 200, 1472, 16_384, 65_507))], Moment()
    )
    assert cost["rac1"].low_us <= frame_cpu_us * (1 + 1e-9)
    assert frame_cpu_us * (1 - 0.05) <= cost["rac1"].high_us


def test_a_result_in_which_packets_cost_nothing_is_not_used():
    (cost,) = fragment_costs([sizes(frame_cpu_us=0.0)], Moment()).values()
    assert isinstance(cost, Unknown)


def test_a_cost_at_another_mtu_than_that_of_the_recording_is_not_used():
    other = msgspec.structs.replace(path(9000), target_interface="eth1")
    guessed, found = softirq()["rac1"], softirq(msgspec.structs.replace(sizes(9000), paths=(other,)))["rac1"]
    assert (found.after, found.low, found.high) == (guessed.after, guessed.low, guessed.high)
    assert found.inputs["CPU time of a packet"] == (
        "not used. It does not belong to the recording: rac1 to rac2 on 192.168.10.0/24 had MTU 9000, and 1500 in it."
    )


def test_a_cost_that_needs_more_than_soft_interrupts_took_is_not_used():
    guessed, found = softirq()["rac1"], softirq(sizes(frame_cpu_us=3000.0))["rac1"]
    assert (found.after, found.low, found.high) == (guessed.after, guessed.low, guessed.high)
    assert found.formula == guessed.formula
    assert found.inputs["CPU time of a packet"].startswith("not used. By it, ")


def test_every_number_has_a_formula_and_inputs():
    assert all(one.formula and one.inputs for one in predict(load_of(STANDARD), 9000).estimates)


def test_an_idle_cluster_is_not_predicted():
    idle = recording(1, blocks=0.0, seconds=60, with_database=False)
    prediction = predict(load_of(idle), 9000)
    assert not estimates(prediction, "packets in")
    quiet = FakeRecording(
        [event for event in idle.events() if type(event).__name__ == "Links"], cluster=idle.header.cluster
    )
    assert {one.subject for one in predict(load_of(quiet), 9000).not_predicted} == {"rac1", "rac2"}


def test_the_receipt_sets_the_prediction_beside_the_measurement():
    found = {one.name: one for one in receipt(load_of(STANDARD), load_of(JUMBO))}
    packets = found["rac1 packets in"]
    assert packets.measured.endswith("/s")
    assert packets.at_load == "100 % of the blocks"
    assert not tuple(receipt(load_of(STANDARD), load_of(STANDARD)))


def test_the_command_prints_text_and_json(tmp_path, capsys):
    file = written(tmp_path / "before.rec", STANDARD)
    assert main(["predict", "--mtu", "9000", file]) == 0
    text = capsys.readouterr().out
    assert text.startswith("MTU 1500 -> 9000")
    assert "How it is calculated" in text
    assert max(map(len, text.splitlines())) <= 100
    assert main(["predict", "--mtu", "9000", "--format", "json", file]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "racwire-prediction/1"
    assert document["mtu_after"] == 9000


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--mtu", "100"], "100 is no MTU"),
        (["--mtu", "9000", "--block-size", "9k"], "is no block size of Oracle"),
        (["--mtu", "9000", "--multiblock", "0"], "must be 1 or more"),
        (["--mtu", "9000", "--for", "5s", "FILE"], "for a live measurement"),
        (["--mtu", "9000", "--probe"], "predict sends nothing"),
        (["--mtu", "9000", "/no/such.rec"], "no such"),
    ],
)
def test_a_wrong_request_is_one_sentence_and_exit_code_64(words, message, tmp_path, capsys):
    file = written(tmp_path / "before.rec", JUMBO)
    assert main(["predict", *(file if word == "FILE" else word for word in words)]) == 64
    error = capsys.readouterr().err
    assert message.lower() in error.lower()
    assert error.count("\n") == 1


def test_a_prediction_survives_json():
    prediction = predict(load_of(STANDARD), 9000)
    assert msgspec.json.decode(msgspec.json.encode(prediction), type=type(prediction)) == prediction


# --- conclusions ------------------------------------------------------------------------------------------------------


def estimate(name, now, after, *, subject="rac1", low=None, high=None):
    low, high = after if low is None else low, after if high is None else high
    return Estimate(
        name=name, subject=subject, unit="", now=now, after=after, low=low, high=high, formula="", inputs={}
    )


LINKS, SOFTIRQ_LIMIT = LIMITS


def test_fewer_packets_are_summed_over_nodes_and_a_day():
    both = [estimate(f"packets {way}", 1300, 300, subject=node) for way in ("in", "out") for node in ("rac1", "rac2")]
    (packets,) = conclusions(both, 9000)
    assert packets == (
        "rac1 and rac2 send and receive 5,200 packets per second now, and 1,200 at MTU 9000: 77 % less. In a day that "
        "is about 173 million packets less, each counted where it is sent."
    )


def test_a_load_without_large_datagrams_is_the_same_at_any_mtu():
    (packets,) = conclusions([estimate("packets in", 100, 99)], 9000)
    assert packets == (
        "rac1 sends and receives 100 packets per second now, and 99 at MTU 9000: the same number. This load hardly has "
        "packets that the MTU changes."
    )


def test_the_first_limit_is_the_one_that_a_growing_load_reaches_first():
    limits = [
        estimate(LINKS, 1400, 1500),
        estimate(SOFTIRQ_LIMIT, 66.5, 295, low=66.5, high=295),
        estimate(SOFTIRQ_LIMIT, 70, 300, subject="rac2", low=70, high=300),
    ]
    (first,) = conclusions(limits, 9000)
    assert first == (
        "As the load grows, the first known limit is the soft interrupts of one CPU on rac1: at 66 times this load, "
        "and at MTU 9000 at 66 to 295 times."
    )
    (other,) = conclusions([estimate(LINKS, 5, 5.5), estimate(SOFTIRQ_LIMIT, 2, 9, low=8, high=9)], 9000)
    assert other == (
        "As the load grows, the first known limit is the soft interrupts of one CPU on rac1, at 2.0 times this load. "
        "At MTU 9000 it is the private links on rac1, at 5.5 times or more."
    )


def test_a_multiblock_read_is_compared_with_the_receive_buffer():
    load = dataclasses.replace(load_of(STANDARD), receive_buffer_bytes={"rac1": 212_992, "rac2": 4_194_304})
    (short,) = [remark for remark in predict(load, 9000, multiblock=128).remarks if "net.core.rmem_max" in remark]
    assert "more than net.core.rmem_max (212,992 bytes)" in short
    read = predict(dataclasses.replace(load, receive_buffer_bytes={"rac2": 4_194_304}), 9000, multiblock=128)
    (burst,) = [remark for remark in read.remarks if remark.startswith("A multiblock read of 128 blocks")]
    assert "brings 1,048,576 bytes in one burst" in burst
    assert "room for the data of 4 such bursts" in burst
    message = estimates(read, "packets for a message of parallel execution")[""]
    assert (message.now, message.after) == (12, 2)


@given(st.lists(st.tuples(st.sampled_from(("packets in", *LIMITS, SOFTIRQ)), st.floats(0, 1e9), st.floats(0, 1e9))))
def test_any_estimates_have_conclusions(figures):
    assert all(text.endswith(".") for text in conclusions([estimate(*figure) for figure in figures], 9000))


def busy(seconds=60, cluster_wait=50, **more):
    """Return a recording in which each instance works for 2 s each second and waits `cluster_wait` ms for others."""
    plain = recording(2, mtu=9000, seconds=seconds)
    events = [
        msgspec.structs.replace(
            event,
            statistics=event.statistics | {"DB time": 200, "cluster wait time": cluster_wait // 10, **more},
        )
        if isinstance(event, InstanceSample)
        else event
        for event in plain.events()
    ]
    return FakeRecording(events, cluster=plain.header.cluster)


def test_a_prediction_begins_with_what_a_network_could_bring_at_most(tmp_path, capsys):
    load = load_of(busy())
    found = predict(load, 1500).wire
    assert isinstance(found, WireTime)
    assert found.db_time_s == pytest.approx(240, rel=0.01)
    assert found.cluster_percent == pytest.approx(2.5)
    assert found.low_percent <= found.high_percent == pytest.approx(2.5, rel=0.01)
    assert "own pings" in found.inputs["pings"]
    assert main(["predict", "--mtu", "1500", written(tmp_path / "busy.rec", busy())]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "Cluster waits are 2.5 % of DB time" in text
    assert "no network makes this load more than 2.6 % faster." in text


def test_without_db_time_a_prediction_says_why_it_sets_no_limit():
    found = predict(load_of(JUMBO), 1500).wire
    assert isinstance(found, Unknown)
    assert "'DB time' of prod1 was not read" in found.reason
    none = predict(load_of(recording(2, seconds=60, with_database=False)), 9000).wire
    assert isinstance(none, Unknown)
    assert "no database was connected" in none.reason
