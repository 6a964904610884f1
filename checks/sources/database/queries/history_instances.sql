-- awr purpose: racwire counts the intervals, the restarts and the missing snapshots of each instance in a range of
--     snapshots.
-- statspack purpose: racwire counts the intervals and the restarts of each instance in a range of snapshots.
-- statspack note: Each instance takes its own snapshots, so none can be missing.
-- awr view: DBA_HIST_DATABASE_INSTANCE
-- awr licence: none
-- statspack view: STATS$DATABASE_INSTANCE
-- versions: 11.2-
WITH snapshots AS (
    SELECT s.instance_number,
           s.snap_id,
           s.startup_time,
           LAG(s.startup_time) OVER (PARTITION BY s.dbid, s.instance_number ORDER BY s.snap_id) AS startup_before,
           LAG($end_time) OVER (
               PARTITION BY s.dbid, s.instance_number ORDER BY s.snap_id) AS begin_time,
           $end_time AS end_time
      FROM $snapshots s
     WHERE s.dbid = :dbid
       AND $in_range
),
lengths AS (
    SELECT p.*,
           p.end_time - p.begin_time AS took
      FROM snapshots p
),
intervals AS (
    SELECT i.instance_number,
           i.snap_id,
           i.begin_time,
           i.end_time,
           CASE WHEN i.$after_base AND i.startup_time = i.startup_before THEN 1 ELSE 0 END AS is_whole,
           CASE WHEN i.$after_base AND i.startup_time <> i.startup_before THEN 1 ELSE 0 END AS is_restart,
           EXTRACT(DAY FROM i.took) * 86400 + EXTRACT(HOUR FROM i.took) * 3600
               + EXTRACT(MINUTE FROM i.took) * 60 + EXTRACT(SECOND FROM i.took) AS seconds
      FROM lengths i
awr|     WHERE i.snap_id >= :base_snap
statspack|     WHERE i.$after_base
),
names AS (
    SELECT n.instance_number,
           n.instance_name,
           n.host_name,
           ROW_NUMBER() OVER (PARTITION BY n.instance_number ORDER BY n.startup_time DESC) AS place
      FROM $values n
     WHERE n.dbid = :dbid
awr|),
awr|taken AS (
awr|    SELECT COUNT(DISTINCT i.snap_id) AS snapshots
awr|      FROM intervals i
)
SELECT i.instance_number,
       MAX(n.instance_name) AS instance_name,
       MAX(n.host_name) AS host_name,
       SUM(i.is_whole) AS intervals,
       SUM(i.is_restart) AS restarts,
awr|       MAX(t.snapshots) - COUNT(*) AS missing_snapshots,
statspack|       0 AS missing_snapshots,
       SUM(CASE WHEN i.is_whole = 1 THEN i.seconds ELSE 0 END) AS seconds,
       MIN(CASE WHEN i.is_whole = 1 THEN i.begin_time END) AS begin_time,
       MAX(i.end_time) AS end_time
  FROM intervals i
awr| CROSS JOIN taken t
  LEFT JOIN names n
    ON n.instance_number = i.instance_number
   AND n.place = 1
 GROUP BY i.instance_number
 ORDER BY i.instance_number
