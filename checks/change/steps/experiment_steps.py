"""The steps of an experiment: one load on a test database, run twice before a change of the MTU and once after it.

The order is that of R. Kundersma's experiment, with a second run before the change, which shows the noise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.change.plan.change_plan import Gate, Minutes, PlannedDatabase, PlannedExperiment, Step
from checks.change.plan.command_block import REPORT, Commands, Who, as_sysdba
from checks.change.steps import load_tools, recording_commands
from checks.change.steps.backup_commands import CREATE_POINT, DROP_POINT
from checks.change.steps.draft import Draft
from checks.change.steps.stack_commands import start_database, stop_database
from checks.model.own_command import CHANGE as CHANGE_MTU
from checks.model.own_command import OwnCommand
from checks.model.shell_command import Value, shell, sql

AGREE, SPACE, LOAD, RESTORE_POINT = "agree", "space", "load", "restore-point"
RUN_A, RUN_AGAIN, RUN_B = "run-a", "run-a-again", "run-b"
CHANGE, RESULT, DROP = "set-mtu", "result", "drop-point"
_KEEP = "None: the database can be flashed back to the restore point."
_BACK = "The database is flashed back to the restore point, and the restore point is dropped."
_WITH_CHANGE = (
    f"{_BACK} The MTU stays as it is: change it back with ",
    OwnCommand("new", program=CHANGE_MTU),
    ", or roll the change itself back.",
)
_LOSES = "Everything that is written after the restore point is lost."


_POINTS = ("SELECT name, guarantee_flashback_database, storage_size", "  FROM v$restore_point;")


def steps(draft: Draft, planned: PlannedExperiment) -> Iterator[Step]:
    """Yield the steps of an experiment. `draft.record_s` is the length of each run in seconds."""
    yield _agree(draft, planned)
    yield _space(draft, planned)
    yield _load(draft, planned)
    yield _restore_point(draft, planned)
    yield _run(draft, planned, RUN_A, "a", draft.baseline_file, draft.before)
    yield _flash_back(draft, planned, "flash-back-1", changed=False)
    yield _run(draft, planned, RUN_AGAIN, "a-again", planned.again_file, draft.before)
    yield _flash_back(draft, planned, "flash-back-2", changed=False)
    yield _change(draft)
    yield _run(draft, planned, RUN_B, "b", draft.after_file, draft.after)
    yield _flash_back(draft, planned, "flash-back-3", changed=True)
    yield _result(draft, planned)
    yield drop_point(draft, planned)
    yield sign_off(planned)


def steps_back(draft: Draft, planned: PlannedExperiment, *, is_written: bool) -> tuple[Step, ...]:
    """Return the steps that end an experiment early. `is_written`: whether a run may have written into the database."""
    back = [_flash_back(draft, planned, "flash-back", changed=True)] if is_written else []
    return (*back, drop_point(draft, planned), sign_off(planned))


def _agree(draft: Draft, planned: PlannedExperiment) -> Step:
    name = planned.database
    return Step(
        id=AGREE,
        title="test database",
        what=f"Make sure that {name} is a test database. Each run is followed by a flashback: what is written into "
        f"{name} after the restore point is lost, three times. Stop its jobs, its replication and its monitoring.",
        why="An experiment is for test databases only. The load competes with everything else on these nodes, and the "
        "change of the MTU between the runs is a full outage of the whole cluster.",
        expected=f"{name} is not needed during the experiment, and what is written into it from now on may be lost.",
        gates=(Gate("test-database"),),
        attest=f"{name} is a test database. {_LOSES} Its owner agrees. Other databases of this cluster may be stopped "
        "for the change of the MTU.",
        attest_asks="who owns the database and agreed, and when",
        if_rolled_back="Nothing was changed: abandon the experiment.",
        minutes=Minutes(5, 60, "the people who must agree"),
        no_return="None: nothing is changed yet.",
    )


def _space(draft: Draft, planned: PlannedExperiment) -> Step:
    return Step(
        id=SPACE,
        title="recovery area",
        what="Check that the database runs in ARCHIVELOG mode, and that its recovery area has room for the archived "
        "logs and the flashback logs of one run.",
        why="With a guaranteed restore point, the database keeps the old version of each block that is changed, and "
        "deletes no log before that. A full recovery area stops the database. The flashback logs of a run are at most "
        "about as large as the blocks that it changes.",
        commands=(
            _sql(
                planned,
                draft.first,
                "SELECT log_mode, flashback_on FROM v$database;",
                "SELECT name, space_limit, space_used, space_reclaimable",
                "  FROM v$recovery_file_dest;",
                note="The gate reads them too." if planned.reads_restore_points else "",
                optional=planned.reads_restore_points,
            ),
        ),
        expected="ARCHIVELOG; space_limit - space_used + space_reclaimable is more than the run writes.",
        gates=(Gate("recovery-area", until=DROP),) if planned.reads_restore_points else (),
        attest=""
        if planned.reads_restore_points
        else f"{planned.database} is in ARCHIVELOG mode, and its recovery area has room for the logs of one run.",
        attest_asks="" if planned.reads_restore_points else "limit, used and reclaimable bytes",
        if_rolled_back="Nothing was changed: abandon the experiment.",
        minutes=Minutes(1, 5, "the length of the queries"),
        no_return="None: nothing is changed yet.",
    )


def _load(draft: Draft, planned: PlannedExperiment) -> Step:
    tool = load_tools.LOADS[planned.load]
    scripts = tuple(
        sql(line, schema=tool.schema)
        for lines in (load_tools.SEQUENCES, load_tools.INDEXES, load_tools.TABLES)
        for line in lines
    )
    return Step(
        id=LOAD,
        title="load",
        what=f"Prepare {tool.name} with {planned.users} users on all instances, and make its load stress the "
        "interconnect: sequences with a small cache, no REVERSE indexes, and full scans on each instance during the "
        "whole run. Try it for a few minutes.",
        why="A load that sends few blocks shows no difference between two MTUs: Kundersma's first runs (1364 and 1336 "
        "transactions a second) did not, his later runs under stress did. More users than before, small sequence "
        "caches, plain indexes and full scans make instances exchange blocks.",
        commands=(
            _sql(
                planned,
                draft.first,
                *scripts,
                note=f"Each query prints the statements to run; {tool.schema} stands for the owner of the tables. Run "
                "the ALTER statements once, and repeat the full scans on each instance as long as a run lasts.",
                container="in the container with the tables of the load",
            ),
        ),
        expected="racwire watch, or GV$SYSSTAT, shows thousands of blocks a second received by each instance.",
        attest=f"{tool.name} runs with {planned.users} users and a think time of {planned.think_time} on all "
        "instances, and the instances exchange blocks.",
        attest_asks="the blocks per second that each instance receives, and what was altered",
        if_rolled_back="Nothing was stopped. Altered sequences and indexes of the test database stay as they are.",
        minutes=Minutes(15, 120, "the size of the schema"),
        no_return="None: only the schema of the load is altered.",
    )


def _restore_point(draft: Draft, planned: PlannedExperiment) -> Step:
    return Step(
        id=RESTORE_POINT,
        title="restore point",
        what=f"Create the guaranteed restore point {planned.restore_point}.",
        why="Each run must start from the same data. A guaranteed restore point lets FLASHBACK DATABASE return there "
        "as often as needed, also after OPEN RESETLOGS.",
        commands=(
            _sql(
                planned,
                draft.first,
                sql(CREATE_POINT, name=planned.restore_point),
                *_POINTS,
                note="Before 11.2 the database must be mounted for this; from 11.2 on it can be open.",
            ),
        ),
        expected=f"V$RESTORE_POINT has {planned.restore_point} with GUARANTEE_FLASHBACK_DATABASE = YES.",
        gates=(Gate("restore-point", until=DROP),) if planned.reads_restore_points else (),
        attest=""
        if planned.reads_restore_points
        else f"V$RESTORE_POINT has {planned.restore_point} with GUARANTEE_FLASHBACK_DATABASE = YES.",
        if_rolled_back="The restore point is dropped.",
        minutes=Minutes(1, 5, "the database"),
        no_return=f"None. {_LOSES}",
    )


def _run(draft: Draft, planned: PlannedExperiment, id: str, run: str, file: str, mtu: int) -> Step:  # noqa: A002
    tool = load_tools.LOADS[planned.load]
    name = {RUN_A: "run A", RUN_AGAIN: "run A again", RUN_B: "run B"}[id]
    minutes = -(-draft.record_s // 60)
    words: dict[str, Value] = {
        "users": planned.users,
        "minutes": minutes + _LONGER_MIN,
        "hours": f"{(minutes + _LONGER_MIN) // 60}:{(minutes + _LONGER_MIN) % 60:02}",
        "think": planned.think_time.removesuffix("ms").strip() if planned.load == "swingbench" else planned.think_time,
        "run": f"{planned.load}-{run}",
    }
    database = _database(draft, planned)
    why = {
        RUN_A: "This is the run before the change. The restart empties the buffer caches, so that each run starts "
        "cold.",
        RUN_AGAIN: "The same load at the same MTU once more: the difference of the two runs is the noise. A difference "
        "after the change counts only if it is larger.",
        RUN_B: f"The same load from the same data, at MTU {draft.after}.",
    }[id]
    return Step(
        id=id,
        title=name,
        what=f"Restart {planned.database}. Start {tool.name} with {planned.users} users and a think time of "
        f"{planned.think_time}; when all users are logged in, record {recording_commands.for_time(draft.record_s)}. "
        "Change nothing else: no parameter, no statistics, no other work on these nodes.",
        why=why,
        commands=(
            *_restart(draft, database),
            Commands(
                Who.OPERATOR,
                tuple(shell(line, **words) for line in tool.start),
                note=tool.note.format(**words),
                place=tool.place,
            ),
            *recording_commands.recording(
                draft,
                (database,),
                file,
                name.replace(" ", "-"),
                "when all users are logged in",
                note="With --probe, racwire also records how long packets take.",
            ),
        ),
        expected=f"The recording has every node for the whole time, at MTU {mtu}, under load.",
        gates=(*_all_up(database), Gate(_RECORDED[id])),
        attest=f"{tool.name} ran with {planned.users} users and a think time of {planned.think_time} during the whole "
        "recording, from the same start, and nothing else was changed.",
        attest_asks="transactions per second, failed transactions, and the file of the result",
        if_rolled_back=_WITH_CHANGE if id == RUN_B else _BACK,
        minutes=Minutes(minutes + 5, minutes + 25, "the restart, the login of the users, and the length of the run"),
        no_return=_KEEP,
    )


_LONGER_MIN = 5
"""How much longer than the recording the load runs, in minutes: users log in before, and must not leave too early."""
_RECORDED = {RUN_A: "run-a-recording", RUN_AGAIN: "run-again-recording", RUN_B: "run-b-recording"}


def _flash_back(draft: Draft, planned: PlannedExperiment, id: str, *, changed: bool) -> Step:  # noqa: A002
    database = _database(draft, planned)
    return Step(
        id=id,
        title="flash back",
        what=f"Stop the load. Flash {planned.database} back to {planned.restore_point}, and open it with RESETLOGS.",
        why="The next run starts from the same rows, the same indexes and the same sequences as the one before.",
        commands=(
            stop_database(database, draft.first, draft.home(draft.first)),
            _sql(
                planned,
                draft.first,
                "STARTUP MOUNT",
                sql("FLASHBACK DATABASE TO RESTORE POINT {name};", name=planned.restore_point),
                "ALTER DATABASE OPEN RESETLOGS;",
                note="One instance only may be mounted for this. The restore point stays, and can be used again.",
            ),
            start_database(database, draft.first, draft.home(draft.first)),
        ),
        expected="Flashback complete. Database altered. Then every instance is up.",
        gates=_all_up(database),
        attest=f"{planned.database} was flashed back to {planned.restore_point} and opened with RESETLOGS.",
        if_rolled_back=_WITH_CHANGE if changed else _BACK,
        minutes=Minutes(5, 30, "the size of the flashback logs"),
        no_return=f"{_LOSES} The results of the load tool are files, and stay.",
    )


def _change(draft: Draft) -> Step:
    return Step(
        id=CHANGE,
        title="change the MTU",
        what=f"Change the MTU of the private networks from {draft.before} to {draft.after}, as a change of its own, "
        "with its own journal, gates and outage. Follow it to its signature; then verify this step. The change asks "
        "for recordings of its own: record the same load there, or override these two gates with a reference to this "
        "experiment.",
        why="The change is the only difference between the runs A and B. Its gates prove the MTU on every layer, now "
        "and after a boot, and on every path.",
        commands=(Commands(Who.RACWIRE_USER, own=(OwnCommand("new", f"--to {draft.after}", CHANGE_MTU),)),),
        expected=f"The change is signed off, and every private network has MTU {draft.after}.",
        gates=(Gate("mtu-changed"), Gate("running-mtu", until="end"), Gate("stack-up"), Gate("instances-up")),
        if_rolled_back=_WITH_CHANGE,
        minutes=Minutes(60, 240, "the number of nodes, the switches and the length of the recordings of the change"),
        no_return="As the change itself says.",
    )


def _result(draft: Draft, planned: PlannedExperiment) -> Step:
    tool = load_tools.LOADS[planned.load]
    line = compare_line(draft.baseline_file, draft.after_file, planned.again_file, draft.record_s)
    results = tuple(tool.result.format(run=f"{planned.load}-{run}") for run in ("a", "b") if tool.result)
    also = (
        (
            Commands(
                Who.RACWIRE_USER,
                (" ".join((line, shell("--also {results}", results=results))),),
                note=f"Adds the results of {tool.name} to the comparison.",
                purpose="with the results of the load tool",
                optional=True,
            ),
        )
        if results
        else ()
    )
    return Step(
        id=RESULT,
        title="result",
        what="Compare run B with run A. The gate does it too, with run A again as the noise, and writes the result "
        "into the journal.",
        why="No gain is a result, too: a load with few blocks shows none. The report has the prediction from run A "
        "next to what run B measured.",
        commands=(
            Commands(
                Who.RACWIRE_USER,
                (line,),
                draft.first,
                "Read the rows of packets, CPU and softirq for the gain, and those of loss and receive time for harm.",
                draft.login,
                optional=True,
            ),
            *also,
        ),
        expected="The comparison has verdicts: the runs are long enough, and nothing but the MTU differs.",
        gates=(Gate("experiment-result"),),
        if_rolled_back=_WITH_CHANGE,
        minutes=Minutes(1, 10, "the length of the recordings"),
        no_return=_KEEP,
    )


def compare_line(before: str, after: str, again: str, seconds: int) -> str:
    """Return the command line that compares run B with run A, and takes the noise from run A again."""
    return " ".join((recording_commands.compare(before, after, seconds), shell("--same {again}", again=again)))


def drop_point(draft: Draft, planned: PlannedExperiment) -> Step:
    """Return the step that drops the restore point."""
    return Step(
        id=DROP,
        title="drop the point",
        what=f"Drop {planned.restore_point}. A forgotten guaranteed restore point fills the recovery area, until the "
        "database stops.",
        why="The database deletes no flashback log that a guaranteed restore point needs.",
        commands=(
            _sql(
                planned,
                draft.first,
                sql(DROP_POINT, name=planned.restore_point),
                *_POINTS,
            ),
        ),
        expected=f"V$RESTORE_POINT has no {planned.restore_point}.",
        gates=(Gate("restore-point-dropped", until="end"),) if planned.reads_restore_points else (),
        attest=""
        if planned.reads_restore_points
        else f"{planned.restore_point} was dropped: V$RESTORE_POINT does not have it any more.",
        if_rolled_back="Nothing is left to flash back to.",
        minutes=Minutes(1, 5, "the database"),
        no_return="The drop: from there on the database cannot be flashed back to the start.",
    )


def sign_off(planned: PlannedExperiment) -> Step:
    """Return the last step."""
    return Step(
        id="sign-off",
        title="sign off",
        what="Verify once more. Then read the report, file it, and sign off.",
        why="The report has the runs, the comparison, who stated which users and think time, and every override.",
        commands=(REPORT,),
        expected=f"Every instance of {planned.database} is up, and the restore point is gone.",
        gates=(Gate("instances-up"), Gate("stack-up")),
        attest="The report was read and filed. The load is stopped.",
        attest_asks="where the report is filed",
        if_rolled_back="",
        minutes=Minutes(5, 15, "the reader"),
        no_return="None.",
    )


def _restart(draft: Draft, database: PlannedDatabase) -> Sequence[Commands]:
    home = draft.home(draft.first)
    return stop_database(database, draft.first, home), start_database(database, draft.first, home)


def _all_up(database: PlannedDatabase) -> tuple[Gate, ...]:
    """Return the gates that find the instances, services and PDBs of the plan."""
    return (
        Gate("instances-up"),
        *((Gate("services-up"),) if database.services else ()),
        *((Gate("pdbs-open"),) if database.pluggables else ()),
    )


def _database(draft: Draft, planned: PlannedExperiment) -> PlannedDatabase:
    return next(one for one in draft.databases if one.name == planned.database)


def _sql(
    planned: PlannedExperiment,
    node: str,
    *lines: str,
    note: str = "",
    optional: bool = False,
    container: str = "not in a PDB",
) -> Commands:
    return as_sysdba(planned.database, lines, container, note, place=node, optional=optional)
