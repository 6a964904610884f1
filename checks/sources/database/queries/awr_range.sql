-- purpose: racwire finds the first and the last snapshot of the requested number of days.
-- note: The base snapshot is the last one before these days. Reading starts with the last snapshot that each
--     instance took until then, so that its first interval has a difference.
-- reads: DBA_HIST_SNAPSHOT
-- grants: SYS.DBA_HIST_SNAPSHOT
-- licence: none
-- versions: 11.2-
WITH snapshots AS (
    SELECT s.snap_id,
           s.end_interval_time AS end_time,
           LAG(s.snap_id) OVER (
               PARTITION BY s.dbid, s.instance_number, s.startup_time ORDER BY s.snap_id) AS snap_before,
           MAX(s.end_interval_time) OVER () AS last_time
      FROM dba_hist_snapshot s
     WHERE s.dbid = :dbid
),
bounds AS (
    SELECT COALESCE(MAX(CASE WHEN s.end_time <= s.last_time - NUMTODSINTERVAL(:days, 'DAY') THEN s.snap_id END),
                    MIN(s.snap_id)) AS base_snap,
           MAX(s.snap_id) AS last_snap
      FROM snapshots s
)
SELECT b.base_snap,
       b.last_snap,
       MIN(s.snap_before) AS first_before
  FROM bounds b
  JOIN snapshots s
    ON s.snap_id > b.base_snap
 GROUP BY b.base_snap, b.last_snap
