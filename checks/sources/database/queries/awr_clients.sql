-- purpose: racwire adds up the bytes that each instance sent and received over the interconnect in a range of
--     snapshots, by client.
-- reads: DBA_HIST_SNAPSHOT, DBA_HIST_IC_CLIENT_STATS
-- grants: SYS.DBA_HIST_SNAPSHOT, SYS.DBA_HIST_IC_CLIENT_STATS
-- licence: Diagnostics Pack
-- versions: 11.2-
WITH kept AS (
    SELECT v.dbid,
           v.instance_number,
           v.snap_id,
           s.startup_time,
           v.name,
           v.bytes_sent,
           v.bytes_received
      FROM dba_hist_snapshot s
      JOIN dba_hist_ic_client_stats v
        ON v.dbid = s.dbid
       AND v.instance_number = s.instance_number
       AND v.snap_id = s.snap_id
     WHERE s.dbid = :dbid
       AND s.snap_id BETWEEN :from_snap AND :last_snap
       AND v.dbid = :dbid
       AND v.snap_id BETWEEN :from_snap AND :last_snap
),
differences AS (
    SELECT k.instance_number,
           k.snap_id,
           k.name,
           k.bytes_sent - LAG(k.bytes_sent) OVER (
               PARTITION BY k.dbid, k.instance_number, k.startup_time, k.name ORDER BY k.snap_id) AS bytes_sent,
           k.bytes_received - LAG(k.bytes_received) OVER (
               PARTITION BY k.dbid, k.instance_number, k.startup_time, k.name ORDER BY k.snap_id) AS bytes_received
      FROM kept k
)
SELECT d.instance_number,
       d.name,
       SUM(d.bytes_sent) AS bytes_sent,
       SUM(d.bytes_received) AS bytes_received
  FROM differences d
 WHERE d.snap_id > :base_snap
   AND d.bytes_sent >= 0
   AND d.bytes_received >= 0
 GROUP BY d.instance_number, d.name
 ORDER BY d.instance_number, d.name
