"""How values, messages and passwords of Oracle Net are written and read."""

import struct
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from decimal import Context, Decimal

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from racwire_lab.database.backend import OracleError, OracleType
from racwire_lab.oracle_net import values
from racwire_lab.oracle_net.calls import CallReader, Definition, KnownCursor
from racwire_lab.oracle_net.logon_messages import read_request
from racwire_lab.oracle_net.releases import RELEASES, release_of
from racwire_lab.oracle_net.statements import SentStatement
from racwire_lab.oracle_net.verifier import Challenge, Verifier
from racwire_lab.oracle_net.wire import NeedMoreError, ProtocolError, Reader, Writer

decimals = st.decimals(allow_nan=False, allow_infinity=False, min_value=Decimal("-1e125"), max_value=Decimal("1e125"))
datetimes = st.datetimes(timezones=st.none())


@pytest.mark.parametrize(
    ("number", "data"),
    [(0, "80"), (1, "c102"), (-1, "3e6466"), (100, "c202"), (123, "c20218"), (Decimal("0.5"), "c033"), (0.05, "c006")],
)
def test_numbers_are_encoded_as_oracle_encodes_them(number: float, data: str) -> None:
    assert values.encode_number(number).hex() == data


@given(decimals)
@example(Decimal("9.9999999999999999999999999999999999999"))
@example(Decimal("1E-129"))
@example(Decimal("-1E+125"))
def test_a_number_round_trips_with_38_digits(number: Decimal) -> None:
    rounded = Context(prec=38).plus(number)
    expected = rounded if abs(rounded) >= Decimal("1e-130") else 0
    assert values.decode_number(values.encode_number(number)) == expected


@given(st.integers(-(10**38) + 1, 10**38 - 1))
def test_an_integer_is_returned_as_an_int(number: int) -> None:
    back = values.decode_number(values.encode_number(number))
    assert (back, type(back)) == (number, int)


@given(st.integers(), st.integers())
def test_numbers_sort_like_their_bytes(one: int, other: int) -> None:
    assert (values.encode_number(one) < values.encode_number(other)) == (one < other)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), Decimal("1e126"), 10**126])
def test_an_invalid_number_overflows(number: float) -> None:
    with pytest.raises(OracleError, match="ORA-01426"):
        values.encode_number(number)


@given(datetimes)
def test_times_round_trip(moment: datetime) -> None:
    assert values.decode_date(values.encode_timestamp(moment)) == moment
    assert values.decode_date(values.encode_date(moment)) == moment.replace(microsecond=0)


@given(st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1)), st.integers(-12 * 60, 14 * 60))
def test_a_time_round_trips_with_its_time_zone(moment: datetime, minutes: int) -> None:
    aware = moment.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    back = values.decode_date(values.encode_timestamp_tz(aware))
    assert (back, back.utcoffset()) == (aware, aware.utcoffset())


def test_a_time_without_a_zone_is_utc() -> None:
    assert values.decode_date(values.encode_timestamp_tz(datetime(2026, 1, 2))) == datetime(2026, 1, 2, tzinfo=UTC)


@given(st.timedeltas())
def test_an_interval_round_trips(interval: timedelta) -> None:
    assert values.decode_interval(values.encode_interval(interval)) == interval


@given(st.floats(allow_nan=False))
def test_a_double_round_trips(number: float) -> None:
    assert values.decode_float(values.encode_double(number)) == number


@given(st.sampled_from(list(OracleType)), st.sampled_from(["x", 1.5, object(), datetime(2026, 1, 1), b"x"]))
def test_a_value_of_the_wrong_type_is_an_error_of_the_database(type_: OracleType, value: object) -> None:
    with suppress(OracleError):
        assert isinstance(values.encoder(type_)(value), bytes)


@settings(deadline=None)
@given(st.lists(st.integers(-(2**64) + 1, 2**64 - 1)), st.binary(max_size=300), st.binary(max_size=70_000))
def test_integers_and_bytes_round_trip(numbers: list[int], short: bytes, long: bytes) -> None:
    data = Writer().ub(*numbers).counted(short).text(long).u16(7).u16le(7).data
    reader = Reader(data)
    assert [reader.ub() for _ in numbers] == numbers
    assert (reader.counted() or b"") == short
    assert reader.bytes_() == long
    assert (reader.u16(), reader.u16le()) == (7, 7)
    with pytest.raises(NeedMoreError):
        reader.u8()


calls = st.tuples(st.sampled_from([3, 17, 26]), st.integers(0, 255), st.binary(max_size=200)).map(
    lambda parts: bytes(parts[:2]) + parts[2]
)


@given(
    st.one_of(st.binary(max_size=100), calls),
    st.sampled_from([profile.field_version for profile in RELEASES.values()]),
)
def test_any_call_is_parsed_or_refused(data: bytes, version: int) -> None:
    definitions = tuple(Definition(type_, 22, 1) for type_ in (2, 12, 252, 183))
    known = KnownCursor(SentStatement("select :a, :b, :c, :d from dual"), definitions)
    with suppress(NeedMoreError, ProtocolError):
        CallReader(version, lambda _: known).read(Reader(data))


@given(st.sampled_from([1, 2, 3, 34]), st.binary(max_size=200))
def test_any_data_before_the_logon_is_parsed_or_refused(kind: int, data: bytes) -> None:
    with suppress(NeedMoreError, ProtocolError):
        read_request(Reader(bytes([kind]) + data), 13)


@given(st.binary(max_size=20), st.sampled_from([1, 2, 3, 12, 23, 96, 100, 101, 180, 181, 183, 231, 252, 999]))
def test_any_bind_is_a_value_or_refused(data: bytes, type_: int) -> None:
    with suppress(ProtocolError):
        values.decode(data or None, type_)


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("select :a, :B, :a from dual", ("A", "B", "A")),
        ("begin p(:a, :b, :a); end;", ("A", "B")),
        ("/* :no */ -- :no\n select ':no', \":no\", :yes from dual", ("YES",)),
        ("select q'[it's :no]', q'!:no!', :yes from dual", ("YES",)),
        ("select :1, :2 from dual", ("1", "2")),
        ('select :"Mixed" from dual', ("Mixed",)),
        ("declare x number := 5; begin x := :y; end;", ("Y",)),
    ],
)
def test_binds_are_found_at_their_positions(sql: str, names: tuple[str, ...]) -> None:
    assert SentStatement(sql).bind_names == names


@given(st.text())
def test_any_text_has_no_more_binds_than_colons(sql: str) -> None:
    assert len(SentStatement(sql).bind_names) <= sql.count(":")


@pytest.mark.parametrize("sql", [" begin null; end;", "-- why\ndeclare", "/* a */ Call p()"])
def test_blocks_are_recognized_after_comments(sql: str) -> None:
    assert SentStatement(sql).is_block


def test_a_version_selects_its_profile() -> None:
    assert release_of("12.1.0.2.0") == RELEASES["12.1"]
    assert release_of("19.3.0.0.0").field_version == RELEASES["19c"].field_version
    assert release_of("19.3.0.0.0").version == "19.3.0.0.0"
    assert release_of("23.26.0.0.0").fast_auth
    with pytest.raises(ValueError, match=r"no profile for Oracle 10\.2\.0\.5"):
        release_of("10.2.0.5")


@pytest.mark.parametrize("kind", ["12c", "11g"])
def test_a_verifier_is_stored_as_json_without_the_password(kind: str) -> None:
    verifier = Verifier.of("geheim", kind, vgen_count=10)  # type: ignore[arg-type]
    assert Verifier.from_json(verifier.to_json()) == verifier
    assert "geheim" not in verifier.to_json() + repr(verifier)
    assert verifier.fits(b"geheim")
    assert not verifier.fits(b"Geheim")


@pytest.mark.parametrize(
    "text", ["", "[]", '{"kind": "10g", "salt": "", "key": ""}', '{"kind":"12c","salt":"","key":""}']
)
def test_an_invalid_verifier_is_reported(text: str) -> None:
    with pytest.raises(ValueError, match="not a password verifier"):
        Verifier.from_json(text)


@given(st.text("0123456789ABCDEFxyz", max_size=200), st.text("0123456789ABCDEF", max_size=200))
def test_only_the_right_answer_proves_the_password(part: str, password: str) -> None:
    assert Challenge(Verifier.unmatchable()).answer(part, password) is None


def test_versions_are_packed_as_in_their_releases() -> None:
    numbers = [RELEASES[name].version_number for name in ("12.1", "19c", "23ai")]
    assert [struct.pack(">I", number).hex() for number in numbers] == ["0c100200", "13160000", "17070191"]
