"""Functions that DuckDB lacks, or that differ from Oracle's; each is called `ora_...`."""

from __future__ import annotations

MACROS = (
    # Whole numbers a and b; shift is what a is multiplied with so that the quotient has 18 digits after the point,
    # the last one rounded half away from zero.
    """ora_quotient(a, b, shift) AS
       CAST((a * shift) // NULLIF(b, 0)
            + CASE WHEN 2 * abs((a * shift) % NULLIF(b, 0)) < abs(b) THEN 0 WHEN (a < 0) = (b < 0) THEN 1 ELSE -1 END
            AS DECIMAL(38,0)) * CAST('0.000000000000000001' AS DECIMAL(18,18))""",
    # The same for operands with many digits: where it would overflow, the nearest that a DOUBLE gives.
    """ora_decimal_div(a, b, shift, near) AS CASE WHEN b = 0 THEN error('ORA-01476')
       WHEN abs(CAST(a AS DOUBLE)) * shift < 1e38 THEN ora_quotient(a, b, shift)
       ELSE CAST(near AS DECIMAL(38,18)) END""",
    """ora_decimal_mul(a, b, shift, near) AS CASE
       WHEN abs(CAST(a AS DOUBLE) * CAST(b AS DOUBLE)) < 1e38 THEN ora_quotient(a * b, shift, CAST(1 AS HUGEINT))
       ELSE CAST(near AS DECIMAL(38,18)) END""",
    "ora_div(a, b, shift) AS CASE WHEN b = 0 THEN error('ORA-01476') ELSE ora_quotient(a, b, shift) END",
    """ora_div_float(a, b) AS CASE WHEN b = 0 THEN error('ORA-01476')
       ELSE CAST(a AS DOUBLE) / NULLIF(CAST(b AS DOUBLE), 0) END""",
    # A decimal as the whole number of its digits: 1.50 is 150.
    "ora_digits(a) AS CAST(replace(CAST(a AS VARCHAR), '.', '') AS HUGEINT)",
    "ora_mod(m, n) AS CASE WHEN n = 0 THEN m ELSE m % NULLIF(n, 0) END",
    """ora_number_text(x) AS CASE WHEN contains(CAST(x AS VARCHAR), '.')
       THEN replace(regexp_replace(rtrim(rtrim(CAST(x AS VARCHAR), '0'), '.'), '^(-?)0\\.', '\\1.'), '-0', '0')
       ELSE CAST(x AS VARCHAR) END""",
    """ora_to_number(x) AS CASE WHEN x IS NULL THEN NULL
       ELSE coalesce(TRY_CAST(trim(x) AS DECIMAL(38,18)), error('ORA-01722')) END""",
    """ora_substr(x, start, length) AS NULLIF(CASE
       WHEN length < 1 OR start IS NULL OR length IS NULL OR abs(start) > length(x) THEN NULL
       WHEN start < 0 THEN substring(x, CAST(length(x) + start + 1 AS BIGINT), CAST(length AS BIGINT))
       ELSE substring(x, CAST(greatest(start, 1) AS BIGINT), CAST(length AS BIGINT)) END, '')""",
    """ora_parse(x, format) AS CASE WHEN x IS NULL THEN NULL
       ELSE coalesce(try_strptime(x, format), error('ORA-01861')) END""",
    # A number of days as microseconds, to the second, as Oracle adds it to a DATE.
    "ora_days(n) AS CAST(round(n * 86400) AS BIGINT) * 1000000",
    "ora_add(t, us) AS t + to_microseconds(CAST(us AS BIGINT))",
    # The whole part of a number for TO_CHAR: at least so many digits, none for zero.
    """ora_whole_digits(x, least) AS CASE WHEN x = '0' THEN repeat('0', CAST(least AS BIGINT))
       ELSE repeat('0', CAST(greatest(least - length(x), 0) AS BIGINT)) || x END""",
    "ora_month_end(t) AS CAST(last_day(t) AS TIMESTAMP) + (t - date_trunc('day', t))",
)
