"""Date formats of TO_CHAR, TO_DATE and TO_TIMESTAMP in the words of strftime."""

from __future__ import annotations

import re

from racwire_lab.oracle_sql.errors import oracle_error

_ELEMENTS = {
    "YYYY": "%Y",
    "YY": "%y",
    "RR": "%y",
    "MM": "%m",
    "DD": "%d",
    "DDD": "%j",
    "HH24": "%H",
    "HH12": "%I",
    "HH": "%I",
    "MI": "%M",
    "SS": "%S",
    "AM": "%p",
    "PM": "%p",
    "FF": "%f",
    "FF6": "%f",
    "FF3": "%g",
    "IW": "%V",
    "IYYY": "%G",
}
_NAMES = {"MON": "%b", "DY": "%a"}
_WORD = re.compile(
    r'(?P<quoted>"[^"]*")|(?P<name>MON(?!TH)|DY)|'
    + "(?P<element>"
    + "|".join(sorted(_ELEMENTS, key=len, reverse=True))
    + r")|(?P<mark>[-/,.;: T])",
    re.IGNORECASE,
)


def strftime(oracle: str, *, reading: bool = False) -> tuple[str, str]:
    """The same format for DuckDB, and how its names of months and days are written: "", "upper" or "lower".

    Raises ORA-01821 for what is no format or not known here; `reading` is TO_DATE's side, which takes any case.
    """
    out, case, position = "", "", 0
    text = re.sub("^FX", "", oracle, flags=re.IGNORECASE)
    while position < len(text):
        word = _WORD.match(text, position)
        if word is None or (word["mark"] == "T"):
            raise oracle_error(1821)
        position = word.end()
        if word["quoted"]:
            out += word["quoted"][1:-1].replace("%", "%%")
        elif word["name"]:
            out += _NAMES[word["name"].upper()]
            written = {"M": "upper", "D": "upper", "m": "lower", "d": "lower"}[word["name"][0]]
            if word["name"][0].isupper() and word["name"][1].islower():
                written = ""
            if case not in ("", written) and not reading:
                raise oracle_error(1821)
            case = written
        elif word["element"]:
            element = word["element"].upper()
            out += "%f" if reading and element.startswith("FF") else _ELEMENTS[element]
        else:
            out += word["mark"]
    return out, case


NUMBER_FORMAT = re.compile(r"(FM)?([90,]*[90])(?:([.D])([09]+))?", re.IGNORECASE)
"""Formats of numbers that are known here: `FM999990.00`."""

TRUNCATED_TO = {
    "DD": "day",
    "DDD": "day",
    "J": "day",
    "HH": "hour",
    "HH24": "hour",
    "HH12": "hour",
    "MI": "minute",
    "MM": "month",
    "MON": "month",
    "MONTH": "month",
    "Q": "quarter",
    "IW": "week",
    "YYYY": "year",
    "YEAR": "year",
    "YY": "year",
}
"""Units of TRUNC of a date, in DuckDB's words. `WW`, `W` and `DAY` depend on more than the date."""
