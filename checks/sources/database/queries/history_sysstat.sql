-- purpose: racwire adds up the Cache Fusion statistics of each instance in a range of snapshots, without the
--     intervals that contain a restart.
-- note: Times are in centiseconds.
-- awr view: DBA_HIST_SYSSTAT
-- awr name: v.stat_name
-- awr column: v.stat_name AS name
-- statspack view: STATS$SYSSTAT
-- statspack name: v.name
-- statspack column: v.name
-- names: gc blocks lost, gc claim blocks lost, gc blocks corrupt, gc cr blocks received, gc cr block receive time,
--     gc current blocks received, gc current block receive time, gc cr blocks served, gc cr block build time,
--     gc cr block flush time, gc cr block send time, gc current blocks served, gc current block pin time,
--     gc current block flush time, gc current block send time, gc local grants, gc remote grants, gcs messages sent,
--     ges messages sent, consistent gets from cache, db block gets from cache, physical reads cache,
--     DBWR fusion writes
-- versions: 11.2-
WITH kept AS (
    SELECT v.dbid,
           v.instance_number,
           v.snap_id,
           s.startup_time,
           $end_time AS end_time,
           $column,
           v.value
$joined
       AND $name IN ($names)
),
differences AS (
    SELECT k.instance_number,
           k.snap_id,
           k.end_time,
           k.name,
           k.value - LAG(k.value) OVER (
               PARTITION BY k.dbid, k.instance_number, k.startup_time, k.name ORDER BY k.snap_id) AS difference
      FROM kept k
)
SELECT d.instance_number,
       d.name,
       SUM(d.difference) AS difference
  FROM differences d
 WHERE d.$after_base
   AND d.difference >= 0
 GROUP BY d.instance_number, d.name
 ORDER BY d.instance_number, d.name
