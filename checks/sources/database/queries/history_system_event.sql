-- purpose: racwire adds up the waits of each instance for other instances in a range of snapshots, with the times
--     in microseconds.
-- note: An event has no row before it happens: its first value counts from zero if the instance has earlier rows of
--     other events.
-- awr view: DBA_HIST_SYSTEM_EVENT
-- statspack view: STATS$SYSTEM_EVENT
-- versions: 11.2-
WITH kept AS (
    SELECT v.dbid,
           v.instance_number,
           v.snap_id,
           s.startup_time,
           $end_time AS end_time,
awr|           v.event_name AS event,
statspack|           v.event AS event,
           v.total_waits,
           v.time_waited_micro
$joined
awr|       AND v.wait_class = 'Cluster'
statspack|       AND v.event LIKE 'gc %'
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
 WHERE d.$after_base
   AND d.waits >= 0
   AND d.time_us >= 0
 GROUP BY d.instance_number, d.event
HAVING SUM(d.waits) > 0
 ORDER BY d.instance_number, d.event
