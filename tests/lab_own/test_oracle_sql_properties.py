"""Numbers, times and windows against Python's own arithmetic."""

from datetime import datetime, timedelta
from decimal import Decimal, localcontext
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("duckdb")

from tests.lab_own.oracle_sql_database import ask, engine

DATABASE = engine()
FEW = settings(max_examples=60, deadline=None)

whole = st.integers(-(10**17), 10**17)
decimals = st.decimals(-(10**9), 10**9, allow_nan=False, allow_infinity=False, places=6)
moments = st.datetimes(datetime(2000, 1, 1), datetime(2040, 1, 1))


def one(expression: str, **binds: object) -> Any:
    ((found,),) = ask(DATABASE, f"SELECT {expression} AS x FROM dual", binds)
    return found


@FEW
@given(whole, whole.filter(bool))
def test_a_quotient_of_whole_numbers_has_the_digits_of_a_float(a: int, b: int):
    assert float(one(":a / :b", a=a, b=b)) == float(a) / float(b)


@FEW
@given(decimals, decimals)
def test_sums_differences_and_products_of_decimals_are_exact(a: Decimal, b: Decimal):
    with localcontext() as context:
        context.prec = 60
        assert one(":a + :b", a=a, b=b) == a + b
        assert one(":a - :b", a=a, b=b) == a - b
        assert one(":a * :b", a=a, b=b) == a * b


@FEW
@given(moments, moments)
def test_the_parts_of_a_timestamp_difference_add_up_to_its_seconds(a: datetime, b: datetime):
    parts = "EXTRACT(DAY FROM d) * 86400 + EXTRACT(HOUR FROM d) * 3600 + EXTRACT(MINUTE FROM d) * 60"
    parts += " + EXTRACT(SECOND FROM d)"
    text = f"SELECT {parts} AS s FROM (SELECT CAST(:a AS TIMESTAMP) - CAST(:b AS TIMESTAMP) AS d FROM dual)"
    ((seconds,),) = ask(DATABASE, text, {"a": a, "b": b})
    assert Decimal(seconds) == Decimal((a - b) // timedelta(microseconds=1)) / 1_000_000


@FEW
@given(moments, st.integers(-(10**6), 10**6))
def test_an_interval_moves_a_timestamp(moment: datetime, seconds: int):
    moved = one("CAST(:m AS TIMESTAMP) + NUMTODSINTERVAL(:s, 'SECOND')", m=moment, s=seconds)
    assert moved == moment + timedelta(seconds=seconds)


@FEW
@given(st.lists(st.one_of(st.none(), st.integers(-1000, 1000)), min_size=1, max_size=12))
def test_window_functions_look_back_and_sum_as_python_does(values: list[int | None]):
    rows = " UNION ALL ".join(
        f"SELECT {i} AS k, {'NULL' if v is None else v} AS v FROM dual" for i, v in enumerate(values)
    )
    text = (
        f"WITH t AS ({rows}) SELECT t.k, t.v - LAG(t.v) OVER (ORDER BY t.k), SUM(t.v) OVER (ORDER BY t.k), "
        "ROW_NUMBER() OVER (ORDER BY t.v, t.k) FROM t ORDER BY t.k"
    )
    found = ask(DATABASE, text)
    differences = [None, *(b - a if a is not None and b is not None else None for a, b in pairwise(values))]
    assert [row[1] for row in found] == differences
    known = [[v for v in values[: i + 1] if v is not None] for i in range(len(values))]
    assert [row[2] for row in found] == [sum(seen) if seen else None for seen in known]
    order = sorted(range(len(values)), key=lambda i: (values[i] is None, values[i] or 0, i))
    assert [row[3] for row in found] == [order.index(i) + 1 for i in range(len(values))]


@FEW
@given(st.text(st.characters(codec="utf-8", exclude_characters="\0", exclude_categories=["Cs"]), max_size=20))
def test_text_round_trips_and_empty_text_is_null(written: str):
    assert one(":t", t=written) == (written or None)
    literal = written.replace("'", "''")
    if ":" not in literal:
        assert one(f"'{literal}'") == (written or None)
