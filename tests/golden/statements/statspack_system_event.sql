-- purpose: racwire adds up the waits of each instance for other instances in a range of snapshots, with the times
--     in microseconds.
-- reads: STATS$SNAPSHOT, STATS$SYSTEM_EVENT
-- grants: PERFSTAT.STATS$SNAPSHOT, PERFSTAT.STATS$SYSTEM_EVENT
-- licence: none
-- versions: 11.2-
WITH kept AS (
    SELECT v.dbid,
           v.instance_number,
           v.snap_id,
           s.startup_time,
           CAST(s.snap_time AS TIMESTAMP) AS end_time,
           v.event AS event,
           v.total_waits,
           v.time_waited_micro
      FROM perfstat.stats$snapshot s
      JOIN perfstat.stats$system_event v
        ON v.dbid = s.dbid
       AND v.instance_number = s.instance_number
       AND v.snap_id = s.snap_id
     WHERE s.dbid = :dbid
       AND s.snap_time BETWEEN :from_time AND :last_time
       AND v.event LIKE 'gc %'
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
 WHERE d.end_time > :base_time
   AND d.waits >= 0
   AND d.time_us >= 0
 GROUP BY d.instance_number, d.event
HAVING SUM(d.waits) > 0
 ORDER BY d.instance_number, d.event
