"""Read a report as JSON. The report is not trusted."""

from __future__ import annotations

import re

import msgspec

from checks.model.impossible_values import without_impossible
from checks.model.report import SCHEMA, Report
from checks.model.report_limits import settings_fit, too_long_list, without_impossible_situation
from checks.model.sanitize import has_a_number_without_end
from checks.report.json_report import SCHEMA_OF_0_2_0, from_json
from checks.saved.manifest import SavedError, damaged, newer


class _Outline(msgspec.Struct, frozen=True):
    schema: str
    settings: msgspec.Raw = msgspec.Raw(b"{}")


def report_in(data: bytes, path: object) -> Report:
    """Decode the report of the file `path`, with impossible facts Unknown, and without an impossible situation.

    Raises SavedError where it is no report, or exceeds a limit.
    """
    try:
        outline = msgspec.json.decode(data, type=_Outline)
        _refuse_newer(outline.schema, path)
        if not settings_fit(outline.settings):
            raise SavedError(f"{path} was not read: its settings are too large or too deep for racwire's own.")
        if has_a_number_without_end(data):
            raise SavedError(f"{path} could not be read: a number in it is larger than anything that is counted.")
        report = from_json(data)
    except msgspec.DecodeError as error:
        if isinstance(error, msgspec.ValidationError):
            raise _unlike_a_report(path, error) from None
        raise damaged(path) from None
    except (ValueError, RecursionError) as error:
        raise _unlike_a_report(path, error) from None
    if too_long := too_long_list(report):
        what, count, most = too_long
        raise SavedError(
            f"{path} was not opened: it has {count:,} {what}, and no report that racwire writes has more than "
            f"{most:,}; ask the person who sent it."
        )
    report = without_impossible_situation(report)
    cluster = without_impossible(report.cluster, is_redacted=report.is_redacted)
    return report if cluster is report.cluster else msgspec.structs.replace(report, cluster=cluster)


def _refuse_newer(schema: str, path: object) -> None:
    if schema not in (SCHEMA, SCHEMA_OF_0_2_0) and re.fullmatch(r"racwire-report/\d{1,4}", schema):
        raise newer(path, schema, SCHEMA)


def _unlike_a_report(path: object, error: Exception) -> SavedError:
    cause = error.__cause__ if error.__cause__ is not None else error
    why = "it is nested too deep" if isinstance(cause, RecursionError) else str(cause)[:200]
    return SavedError(
        f"{path} has no report that this racwire can read: {why}; open it with the racwire that wrote it."
    )
