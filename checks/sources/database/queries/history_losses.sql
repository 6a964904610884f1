-- purpose: racwire finds the intervals in which each instance lost blocks in a range of snapshots: the first, the
--     last, the worst, and the first after the last 24 hours without a loss.
-- awr view: DBA_HIST_SYSSTAT
-- awr name: v.stat_name
-- statspack view: STATS$SYSSTAT
-- statspack name: v.name
-- versions: 11.2-
WITH kept AS (
    SELECT v.dbid,
           v.instance_number,
           v.snap_id,
           s.startup_time,
           $end_time AS end_time,
           v.value
$joined
       AND $name = 'gc blocks lost'
),
intervals AS (
    SELECT k.instance_number,
           k.snap_id,
           LAG(k.end_time) OVER (
               PARTITION BY k.dbid, k.instance_number, k.startup_time ORDER BY k.snap_id) AS begin_time,
           k.end_time,
           k.value - LAG(k.value) OVER (
               PARTITION BY k.dbid, k.instance_number, k.startup_time ORDER BY k.snap_id) AS lost
      FROM kept k
),
losses AS (
    SELECT i.instance_number,
           i.begin_time,
           i.end_time,
           i.lost,
           LAG(i.end_time) OVER (PARTITION BY i.instance_number ORDER BY i.snap_id) AS loss_before,
           ROW_NUMBER() OVER (PARTITION BY i.instance_number ORDER BY i.lost DESC, i.snap_id) AS place
      FROM intervals i
     WHERE i.$after_base
       AND i.lost > 0
)
SELECT l.instance_number,
       SUM(l.lost) AS lost,
       COUNT(*) AS intervals_with_loss,
       MIN(l.begin_time) AS first_begin,
       MIN(l.end_time) AS first_end,
       MAX(l.end_time) AS last_end,
       MAX(CASE WHEN l.loss_before IS NULL OR l.begin_time >= l.loss_before + INTERVAL '1' DAY
                THEN l.begin_time END) AS since_begin,
       MAX(CASE WHEN l.place = 1 THEN l.begin_time END) AS worst_begin,
       MAX(CASE WHEN l.place = 1 THEN l.end_time END) AS worst_end,
       MAX(l.lost) AS worst_lost
  FROM losses l
 GROUP BY l.instance_number
 ORDER BY l.instance_number
