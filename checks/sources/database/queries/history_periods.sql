-- purpose: racwire adds up the blocks that each instance received and lost in each of several equal parts of a
--     range of snapshots.
-- note: An interval belongs to the part that contains its middle.
-- awr view: DBA_HIST_SYSSTAT
-- awr name: v.stat_name
-- statspack view: STATS$SYSSTAT
-- statspack name: v.name
-- names: gc blocks lost, gc cr blocks received, gc current blocks received, gc cr block receive time,
--     gc current block receive time
-- versions: 11.2-
WITH snapshots AS (
    SELECT s.instance_number,
           s.snap_id,
           LAG($end_time) OVER (
               PARTITION BY s.dbid, s.instance_number, s.startup_time ORDER BY s.snap_id) AS begin_time,
           $end_time AS end_time
      FROM $snapshots s
     WHERE s.dbid = :dbid
       AND $in_range
),
lengths AS (
    SELECT p.instance_number,
           p.snap_id,
           p.end_time - p.begin_time AS took,
           p.begin_time - CAST(:origin AS TIMESTAMP) AS into_range
      FROM snapshots p
     WHERE p.$after_base
       AND p.begin_time IS NOT NULL
),
intervals AS (
    SELECT i.instance_number,
           i.snap_id,
           EXTRACT(DAY FROM i.took) * 86400 + EXTRACT(HOUR FROM i.took) * 3600
               + EXTRACT(MINUTE FROM i.took) * 60 + EXTRACT(SECOND FROM i.took) AS seconds,
           EXTRACT(DAY FROM i.into_range) * 86400 + EXTRACT(HOUR FROM i.into_range) * 3600
               + EXTRACT(MINUTE FROM i.into_range) * 60 + EXTRACT(SECOND FROM i.into_range) AS begin_s
      FROM lengths i
),
placed AS (
    SELECT i.instance_number,
           i.snap_id,
           i.seconds,
           FLOOR((2 * i.begin_s + i.seconds) / (2 * :part_s)) AS part
      FROM intervals i
),
kept AS (
    SELECT v.dbid,
           v.instance_number,
           v.snap_id,
           s.startup_time,
           $end_time AS end_time,
awr|           v.stat_name AS name,
statspack|           v.name,
           v.value
$joined
       AND $name IN ($names)
),
differences AS (
    SELECT k.instance_number,
           k.snap_id,
           k.name,
           k.value - LAG(k.value) OVER (
               PARTITION BY k.dbid, k.instance_number, k.startup_time, k.name ORDER BY k.snap_id) AS difference
      FROM kept k
),
counted AS (
    SELECT d.instance_number,
           d.snap_id,
           SUM(CASE WHEN d.name = 'gc blocks lost' THEN d.difference ELSE 0 END) AS lost,
           SUM(CASE WHEN d.name = 'gc cr blocks received' THEN d.difference ELSE 0 END) AS cr_received,
           SUM(CASE WHEN d.name = 'gc current blocks received' THEN d.difference ELSE 0 END) AS current_received,
           SUM(CASE WHEN d.name = 'gc cr block receive time' THEN d.difference ELSE 0 END) AS cr_receive_time_cs,
           SUM(CASE WHEN d.name = 'gc current block receive time' THEN d.difference ELSE 0 END)
               AS current_receive_time_cs
      FROM differences d
     WHERE d.difference >= 0
     GROUP BY d.instance_number, d.snap_id
)
SELECT p.instance_number,
       p.part,
       SUM(p.seconds) AS seconds,
       COALESCE(SUM(c.lost), 0) AS lost,
       COALESCE(SUM(c.cr_received), 0) AS cr_received,
       COALESCE(SUM(c.current_received), 0) AS current_received,
       COALESCE(SUM(c.cr_receive_time_cs), 0) AS cr_receive_time_cs,
       COALESCE(SUM(c.current_receive_time_cs), 0) AS current_receive_time_cs
  FROM placed p
  LEFT JOIN counted c
    ON c.instance_number = p.instance_number
   AND c.snap_id = p.snap_id
 GROUP BY p.instance_number, p.part
 ORDER BY p.instance_number, p.part
