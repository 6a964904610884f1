"""The errors of the practice database: `raise oracle_error(904, '"LOSS"')`."""

from __future__ import annotations

from racwire_lab.database.backend import OracleError

_TEXTS = {
    900: "invalid SQL statement",
    904: "{}: invalid identifier",
    907: "missing right parenthesis",
    909: "invalid number of arguments",
    911: "invalid character",
    918: "column ambiguously defined",
    920: "invalid relational operator",
    923: "FROM keyword not found where expected",
    932: "inconsistent datatypes: expected {} got {}",
    934: "group function is not allowed here",
    933: "SQL command not properly ended",
    936: "missing expression",
    937: "not a single-group group function",
    942: "table or view does not exist",
    979: "not a GROUP BY expression",
    1008: "not all variables bound",
    1013: "user requested cancel of current operation",
    1031: "insufficient privileges",
    1036: "illegal variable name/number",
    1426: "numeric overflow",
    1427: "single-row subquery returns more than one row",
    1456: "may not perform insert, delete, update operation inside a READ ONLY transaction",
    1476: "divisor is equal to zero",
    1722: "invalid number",
    1756: "quoted string not properly terminated",
    1785: "ORDER BY item must be the number of a SELECT-list expression",
    1789: "query block has incorrect number of result columns",
    1790: "expression must have same datatype as corresponding expression",
    2003: "invalid USERENV parameter",
    4036: "PGA memory used by the instance exceeds PGA_AGGREGATE_LIMIT",
    30076: "invalid extract field for extract source",
    30483: "window functions are not allowed here",
    38757: "Database must be mounted and not open to FLASHBACK.",
    38778: "Restore point '{}' already exists.",
    38780: "Restore point '{}' does not exist.",
    30484: "missing window specification for this function",
}


def oracle_error(code: int, *details: str, offset: int = 0) -> OracleError:
    """Return the error of that number; `details` fill the gaps of its text."""
    return OracleError(code, _TEXTS[code].format(*details), offset)


def not_supported(construct: str, offset: int = 0) -> OracleError:
    """Return the error for Oracle SQL that the practice database does not support: a refusal is better than a wrong
    answer."""
    return OracleError(900, f"invalid SQL statement (the practice database does not support {construct})", offset)
