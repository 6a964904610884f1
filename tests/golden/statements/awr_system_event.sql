-- purpose: racwire adds up the waits of each instance for other instances in a range of snapshots, with the times
--     in microseconds.
-- reads: DBA_HIST_SNAPSHOT, DBA_HIST_SYSTEM_EVENT
-- grants: SYS.DBA_HIST_SNAPSHOT, SYS.DBA_HIST_SYSTEM_EVENT
-- licence: Diagnostics Pack
-- versions: 11.2-
WITH kept AS (
    SELECT v.dbid,
           v.instance_number,
           v.snap_id,
           s.startup_time,
           s.end_interval_time AS end_time,
           v.event_name AS event,
           v.total_waits,
           v.time_waited_micro
      FROM dba_hist_snapshot s
      JOIN dba_hist_system_event v
        ON v.dbid = s.dbid
       AND v.instance_number = s.instance_number
       AND v.snap_id = s.snap_id
     WHERE s.dbid = :dbid
       AND s.snap_id BETWEEN :from_snap AND :last_snap
       AND v.dbid = :dbid
       AND v.snap_id BETWEEN :from_snap AND :last_snap
       AND v.wait_class = 'Cluster'
),
differences AS (
    SELECT k.instance_number,
           k.snap_id,
           k.end_time,
           k.event,
           k.total_waits - COALESCE(
               LAG(k.total_waits) OVER (
                   PARTITION BY k.dbid, k.instance_number, k.startup_time, k.event ORDER BY k.snap_id),
               CASE WHEN k.snap_id > MIN(k.snap_id) OVER (
                   PARTITION BY k.dbid, k.instance_number, k.startup_time) THEN 0 END) AS waits,
           k.time_waited_micro - COALESCE(
               LAG(k.time_waited_micro) OVER (
                   PARTITION BY k.dbid, k.instance_number, k.startup_time, k.event ORDER BY k.snap_id),
               CASE WHEN k.snap_id > MIN(k.snap_id) OVER (
                   PARTITION BY k.dbid, k.instance_number, k.startup_time) THEN 0 END) AS time_us
      FROM kept k
)
SELECT d.instance_number,
       d.event,
       SUM(d.waits) AS waits,
       SUM(d.time_us) AS time_us
  FROM differences d
 WHERE d.snap_id > :base_snap
   AND d.waits >= 0
   AND d.time_us >= 0
 GROUP BY d.instance_number, d.event
HAVING SUM(d.waits) > 0
 ORDER BY d.instance_number, d.event
