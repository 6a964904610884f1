-- purpose: racwire adds up the pings of 500 bytes and of 8 KB from each instance to each other instance in a range
--     of snapshots, with the times in microseconds.
-- reads: STATS$SNAPSHOT, STATS$INTERCONNECT_PINGS
-- grants: PERFSTAT.STATS$SNAPSHOT, PERFSTAT.STATS$INTERCONNECT_PINGS
-- licence: none
-- versions: 11.2-
WITH kept AS (
    SELECT v.dbid,
           v.instance_number,
           v.snap_id,
           s.startup_time,
           CAST(s.snap_time AS TIMESTAMP) AS end_time,
           v.target_instance AS target,
           v.iter_500b AS count_500b,
           v.wait_500b AS time_500b_us,
           v.iter_8k AS count_8k,
           v.wait_8k AS time_8k_us
      FROM perfstat.stats$snapshot s
      JOIN perfstat.stats$interconnect_pings v
        ON v.dbid = s.dbid
       AND v.instance_number = s.instance_number
       AND v.snap_id = s.snap_id
     WHERE s.dbid = :dbid
       AND s.snap_time BETWEEN :from_time AND :last_time
       AND v.target_instance <> v.instance_number
),
differences AS (
    SELECT k.instance_number,
           k.end_time,
           k.target,
           k.count_500b - LAG(k.count_500b) OVER (
               PARTITION BY k.dbid, k.instance_number, k.startup_time, k.target ORDER BY k.snap_id) AS count_500b,
           k.time_500b_us - LAG(k.time_500b_us) OVER (
               PARTITION BY k.dbid, k.instance_number, k.startup_time, k.target ORDER BY k.snap_id) AS time_500b_us,
           k.count_8k - LAG(k.count_8k) OVER (
               PARTITION BY k.dbid, k.instance_number, k.startup_time, k.target ORDER BY k.snap_id) AS count_8k,
           k.time_8k_us - LAG(k.time_8k_us) OVER (
               PARTITION BY k.dbid, k.instance_number, k.startup_time, k.target ORDER BY k.snap_id) AS time_8k_us
      FROM kept k
)
SELECT d.instance_number,
       d.target,
       SUM(d.count_500b) AS count_500b,
       SUM(d.time_500b_us) AS time_500b_us,
       SUM(d.count_8k) AS count_8k,
       SUM(d.time_8k_us) AS time_8k_us
  FROM differences d
 WHERE d.end_time > :base_time
   AND d.count_500b >= 0
   AND d.time_500b_us >= 0
   AND d.count_8k >= 0
   AND d.time_8k_us >= 0
 GROUP BY d.instance_number, d.target
 ORDER BY d.instance_number, d.target
