"""The commands that measure: of a kind, and of a result once more."""

from __future__ import annotations

from checks.model.measurement import DrillOf, MeasuredStorage, Measurement
from checks.model.shell_command import shell


def command_of(kind: str) -> str:
    """Return the command of a kind of measurement: without more, it prints what it would send."""
    return "racwire drill" if kind == "drill" else shell("racwire measure {kind}", kind=kind)


def command_again(measurement: Measurement) -> str:
    """Return the command that measures the same again, on the same node: `racwire measure sizes --on 192.168.10.0/24
    --to rac2 --go practice`. Of a drill, the command that lists the kinds."""
    result, paths = measurement.result, measurement.paths
    if isinstance(result, DrillOf):
        return command_of(measurement.kind)
    if isinstance(result, MeasuredStorage):
        options = [shell("{directory}", directory=result.directory)]
    elif any(path.is_public for path in paths):
        options = ["--public"]
    else:
        options = [shell("--on {network}", network=one) for one in dict.fromkeys(path.network for path in paths)]
        options += [shell("--to {node}", node=one) for one in dict.fromkeys(path.target_node for path in paths)]
    return " ".join((command_of(measurement.kind), *options, shell("--go {cluster}", cluster=measurement.cluster)))
