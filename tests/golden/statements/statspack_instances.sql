-- purpose: racwire counts the intervals and the restarts of each instance in a range of snapshots.
-- reads: STATS$SNAPSHOT, STATS$DATABASE_INSTANCE
-- grants: PERFSTAT.STATS$SNAPSHOT, PERFSTAT.STATS$DATABASE_INSTANCE
-- licence: none
-- versions: 11.2-
WITH snapshots AS (
    SELECT s.instance_number,
           s.snap_id,
           s.startup_time,
           LAG(s.startup_time) OVER (PARTITION BY s.dbid, s.instance_number ORDER BY s.snap_id) AS startup_before,
           LAG(CAST(s.snap_time AS TIMESTAMP)) OVER (
               PARTITION BY s.dbid, s.instance_number ORDER BY s.snap_id) AS begin_time,
           CAST(s.snap_time AS TIMESTAMP) AS end_time
      FROM perfstat.stats$snapshot s
     WHERE s.dbid = :dbid
       AND s.snap_time BETWEEN :from_time AND :last_time
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
           CASE WHEN i.end_time > :base_time AND i.startup_time = i.startup_before THEN 1 ELSE 0 END AS is_whole,
           CASE WHEN i.end_time > :base_time AND i.startup_time <> i.startup_before THEN 1 ELSE 0 END AS is_restart,
           EXTRACT(DAY FROM i.took) * 86400 + EXTRACT(HOUR FROM i.took) * 3600
               + EXTRACT(MINUTE FROM i.took) * 60 + EXTRACT(SECOND FROM i.took) AS seconds
      FROM lengths i
     WHERE i.end_time > :base_time
),
names AS (
    SELECT n.instance_number,
           n.instance_name,
           n.host_name,
           ROW_NUMBER() OVER (PARTITION BY n.instance_number ORDER BY n.startup_time DESC) AS place
      FROM perfstat.stats$database_instance n
     WHERE n.dbid = :dbid
)
SELECT i.instance_number,
       MAX(n.instance_name) AS instance_name,
       MAX(n.host_name) AS host_name,
       SUM(i.is_whole) AS intervals,
       SUM(i.is_restart) AS restarts,
       0 AS missing_snapshots,
       SUM(CASE WHEN i.is_whole = 1 THEN i.seconds ELSE 0 END) AS seconds,
       MIN(CASE WHEN i.is_whole = 1 THEN i.begin_time END) AS begin_time,
       MAX(i.end_time) AS end_time
  FROM intervals i
  LEFT JOIN names n
    ON n.instance_number = i.instance_number
   AND n.place = 1
 GROUP BY i.instance_number
 ORDER BY i.instance_number
