-- purpose: racwire adds up the pings of 500 bytes and of 8 KB from each instance to each other instance in a range
--     of snapshots, with the times in microseconds.
-- awr view: DBA_HIST_INTERCONNECT_PINGS
-- statspack view: STATS$INTERCONNECT_PINGS
-- columns: count_500b, time_500b_us, count_8k, time_8k_us
-- versions: 11.2-
WITH kept AS (
    SELECT v.dbid,
           v.instance_number,
           v.snap_id,
           s.startup_time,
statspack|           $end_time AS end_time,
           v.target_instance AS target,
awr|           v.cnt_500b AS count_500b,
statspack|           v.iter_500b AS count_500b,
           v.wait_500b AS time_500b_us,
awr|           v.cnt_8k AS count_8k,
statspack|           v.iter_8k AS count_8k,
           v.wait_8k AS time_8k_us
$joined
       AND v.target_instance <> v.instance_number
),
differences AS (
    SELECT k.instance_number,
awr|           k.snap_id,
statspack|           k.end_time,
           k.target,
           k.$each - LAG(k.$each) OVER (
               PARTITION BY k.dbid, k.instance_number, k.startup_time, k.target ORDER BY k.snap_id) AS $each,
      FROM kept k
)
SELECT d.instance_number,
       d.target,
       SUM(d.$each) AS $each,
  FROM differences d
 WHERE d.$after_base
   AND d.$each >= 0
 GROUP BY d.instance_number, d.target
 ORDER BY d.instance_number, d.target
