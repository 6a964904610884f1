-- purpose: racwire reads each MTU that an interconnect NIC had in a range of snapshots, and adds up the growth of
--     the counters of the NIC.
-- note: The counters start with the node, not with the instance: in an interval with a smaller counter, the node
--     restarted.
-- reads: DBA_HIST_SNAPSHOT, DBA_HIST_IC_DEVICE_STATS
-- grants: SYS.DBA_HIST_SNAPSHOT, SYS.DBA_HIST_IC_DEVICE_STATS
-- licence: Diagnostics Pack
-- versions: 11.2-
WITH kept AS (
    SELECT v.dbid,
           v.instance_number,
           v.snap_id,
           s.end_interval_time AS end_time,
           v.if_name,
           v.ip_addr,
           v.mtu,
           v.receive_errors,
           v.receive_dropped,
           v.receive_buf_or,
           v.receive_frame_err,
           v.send_errors,
           v.sends_dropped,
           v.send_buf_or,
           v.send_carrier_lost,
           v.packets_received,
           v.packets_sent
      FROM dba_hist_snapshot s
      JOIN dba_hist_ic_device_stats v
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
           k.end_time,
           k.if_name,
           k.ip_addr,
           k.mtu,
           k.receive_errors - LAG(k.receive_errors) OVER (
               PARTITION BY k.dbid, k.instance_number, k.if_name, k.ip_addr ORDER BY k.snap_id) AS receive_errors,
           k.receive_dropped - LAG(k.receive_dropped) OVER (
               PARTITION BY k.dbid, k.instance_number, k.if_name, k.ip_addr ORDER BY k.snap_id) AS receive_dropped,
           k.receive_buf_or - LAG(k.receive_buf_or) OVER (
               PARTITION BY k.dbid, k.instance_number, k.if_name, k.ip_addr ORDER BY k.snap_id) AS receive_buf_or,
           k.receive_frame_err - LAG(k.receive_frame_err) OVER (
               PARTITION BY k.dbid, k.instance_number, k.if_name, k.ip_addr ORDER BY k.snap_id) AS receive_frame_err,
           k.send_errors - LAG(k.send_errors) OVER (
               PARTITION BY k.dbid, k.instance_number, k.if_name, k.ip_addr ORDER BY k.snap_id) AS send_errors,
           k.sends_dropped - LAG(k.sends_dropped) OVER (
               PARTITION BY k.dbid, k.instance_number, k.if_name, k.ip_addr ORDER BY k.snap_id) AS sends_dropped,
           k.send_buf_or - LAG(k.send_buf_or) OVER (
               PARTITION BY k.dbid, k.instance_number, k.if_name, k.ip_addr ORDER BY k.snap_id) AS send_buf_or,
           k.send_carrier_lost - LAG(k.send_carrier_lost) OVER (
               PARTITION BY k.dbid, k.instance_number, k.if_name, k.ip_addr ORDER BY k.snap_id) AS send_carrier_lost,
           k.packets_received - LAG(k.packets_received) OVER (
               PARTITION BY k.dbid, k.instance_number, k.if_name, k.ip_addr ORDER BY k.snap_id) AS packets_received,
           k.packets_sent - LAG(k.packets_sent) OVER (
               PARTITION BY k.dbid, k.instance_number, k.if_name, k.ip_addr ORDER BY k.snap_id) AS packets_sent
      FROM kept k
),
growth AS (
    SELECT d.*,
           CASE WHEN d.snap_id > :base_snap
                 AND d.receive_errors >= 0
                 AND d.receive_dropped >= 0
                 AND d.receive_buf_or >= 0
                 AND d.receive_frame_err >= 0
                 AND d.send_errors >= 0
                 AND d.sends_dropped >= 0
                 AND d.send_buf_or >= 0
                 AND d.send_carrier_lost >= 0
                 AND d.packets_received >= 0
                 AND d.packets_sent >= 0
                THEN 1 ELSE 0 END AS is_whole
      FROM differences d
     WHERE d.snap_id >= :base_snap
)
SELECT g.instance_number,
       g.if_name,
       g.ip_addr,
       g.mtu,
       MAX(g.end_time) AS last_seen,
       SUM(CASE WHEN g.is_whole = 1 THEN g.receive_errors ELSE 0 END) AS receive_errors,
       SUM(CASE WHEN g.is_whole = 1 THEN g.receive_dropped ELSE 0 END) AS receive_dropped,
       SUM(CASE WHEN g.is_whole = 1 THEN g.receive_buf_or ELSE 0 END) AS receive_buf_or,
       SUM(CASE WHEN g.is_whole = 1 THEN g.receive_frame_err ELSE 0 END) AS receive_frame_err,
       SUM(CASE WHEN g.is_whole = 1 THEN g.send_errors ELSE 0 END) AS send_errors,
       SUM(CASE WHEN g.is_whole = 1 THEN g.sends_dropped ELSE 0 END) AS sends_dropped,
       SUM(CASE WHEN g.is_whole = 1 THEN g.send_buf_or ELSE 0 END) AS send_buf_or,
       SUM(CASE WHEN g.is_whole = 1 THEN g.send_carrier_lost ELSE 0 END) AS send_carrier_lost,
       SUM(CASE WHEN g.is_whole = 1 THEN g.packets_received ELSE 0 END) AS packets_received,
       SUM(CASE WHEN g.is_whole = 1 THEN g.packets_sent ELSE 0 END) AS packets_sent
  FROM growth g
 GROUP BY g.instance_number, g.if_name, g.ip_addr, g.mtu
 ORDER BY g.instance_number, g.if_name, g.ip_addr, g.mtu
