"""`--redact`: pseudonyms for names and addresses, and the private file that maps them to the names."""

from __future__ import annotations

import os
import pwd
import socket
from collections.abc import Mapping
from pathlib import Path

from checks.model.measurement import Measurement
from checks.redact import Identity, RedactionError, Redactor, open_mapping
from checks.report.report_evidence import Evidence
from checks.run.directories import state_directory
from tui.cli.errors import UsageError
from tui.cli.streams import print_message

MAP_NAME = "redaction.json"
REVIEW_FIRST = "racwire cannot know all names in the outputs of other programs: review the file before you hand it on."


def map_path(named: str | None) -> Path:
    """The path of the mapping: the file of --redaction-map, or the default."""
    return Path(named) if named else state_directory() / MAP_NAME


def redacted(evidence: Evidence, map_file: str | None) -> Evidence:
    """The evidence with pseudonyms; a message on stderr names the mapping. Redacted evidence is returned unchanged.

    Raises UsageError where the mapping cannot be used, OutputError where it cannot be written, RecordingError where the
    samples cannot be read.
    """
    report = evidence.report
    if report.is_redacted:
        print_message("the evidence is redacted already; --redact changes nothing.")
        return evidence
    path = map_path(map_file)
    try:
        with open_mapping(path) as pseudonyms:
            redactor = Redactor(pseudonyms, None if report.saved_at else identity())
            redactor.learn(report)
            if evidence.track is not None:
                redactor.learn_track(evidence.track)
            report = redactor.report(report)
            track = None if evidence.track is None else redactor.track(evidence.track)
    except RedactionError as error:
        raise UsageError(str(error)) from None
    print_message(f"names and addresses are pseudonyms; {path} maps them to the names, keep it private. {REVIEW_FIRST}")
    return Evidence(report, track)


def redacted_result(measurement: Measurement) -> Measurement:
    """The result of a measurement with pseudonyms; a message on stderr names the mapping.

    Raises UsageError where the mapping cannot be used, OutputError where it cannot be written.
    """
    path = map_path(None)
    try:
        with open_mapping(path) as pseudonyms:
            redactor = Redactor(pseudonyms, identity())
            redactor.learn(measurement)
            found = redactor.struct(measurement)
    except RedactionError as error:
        raise UsageError(str(error)) from None
    print_message(f"names and addresses are pseudonyms; {path} maps them to the names, keep it private.")
    return found


def redact_recording(source: Path, target: Path, map_file: str | None = None) -> Path:
    """Write a copy of a recording with the same pseudonyms to the new file `target`, and return `target`.

    Raises UsageError where the mapping cannot be used, OutputError where a file cannot be written, RecordingError where
    the recording cannot be read.
    """
    try:
        with open_mapping(map_path(map_file)) as pseudonyms:
            Redactor(pseudonyms, identity()).recording(source, target)
    except RedactionError as error:
        raise UsageError(str(error)) from None
    return target


def identity(environment: Mapping[str, str] = os.environ) -> Identity:
    """The user who runs racwire, and this host."""
    try:
        own = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # a user without a name
        own = ""
    others = (environment.get(name, "") for name in ("SUDO_USER", "LOGNAME", "USER"))
    return Identity((own, *others), environment.get("HOME", ""), socket.gethostname())
