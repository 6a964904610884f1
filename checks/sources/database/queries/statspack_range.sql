-- purpose: racwire finds the first and the last snapshot of the requested number of days.
-- note: The base snapshot is the last one before these days. Reading starts with the last snapshot that each
--     instance took until then, so that its first interval has a difference. Snapshot numbers ascend with time only
--     within one instance.
-- reads: STATS$SNAPSHOT
-- grants: PERFSTAT.STATS$SNAPSHOT
-- licence: none
-- versions: 11.2-
WITH snapshots AS (
    SELECT s.snap_id,
           $end_time AS end_time,
           LAG(s.snap_id) OVER (
               PARTITION BY s.dbid, s.instance_number, s.startup_time ORDER BY s.snap_id) AS snap_before,
           LAG($end_time) OVER (
               PARTITION BY s.dbid, s.instance_number, s.startup_time ORDER BY s.snap_id) AS time_before,
           MAX($end_time) OVER () AS last_time
      FROM $snapshots s
     WHERE s.dbid = :dbid
),
bounds AS (
    SELECT COALESCE(MAX(CASE WHEN s.end_time <= s.last_time - NUMTODSINTERVAL(:days, 'DAY') THEN s.end_time END),
                    MIN(s.end_time)) AS base_time,
           MAX(s.end_time) AS last_time
      FROM snapshots s
)
SELECT b.base_time,
       b.last_time,
       MIN(s.time_before) AS first_before,
       MIN(s.snap_before) AS first_snap,
       MAX(s.snap_id) AS last_snap
  FROM bounds b
  JOIN snapshots s
    ON s.end_time > b.base_time
 GROUP BY b.base_time, b.last_time
