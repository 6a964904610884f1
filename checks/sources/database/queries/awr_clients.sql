-- purpose: racwire adds up the bytes that each instance sent and received over the interconnect in a range of
--     snapshots, by client.
-- awr view: DBA_HIST_IC_CLIENT_STATS
-- columns: bytes_sent, bytes_received
-- versions: 11.2-
WITH kept AS (
    SELECT v.dbid,
           v.instance_number,
           v.snap_id,
           s.startup_time,
           v.name,
           v.$each,
$joined
),
differences AS (
    SELECT k.instance_number,
           k.snap_id,
           k.name,
           k.$each - LAG(k.$each) OVER (
               PARTITION BY k.dbid, k.instance_number, k.startup_time, k.name ORDER BY k.snap_id) AS $each,
      FROM kept k
)
SELECT d.instance_number,
       d.name,
       SUM(d.$each) AS $each,
  FROM differences d
 WHERE d.snap_id > :base_snap
   AND d.$each >= 0
 GROUP BY d.instance_number, d.name
 ORDER BY d.instance_number, d.name
