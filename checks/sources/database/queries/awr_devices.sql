-- purpose: racwire reads each MTU that an interconnect NIC had in a range of snapshots, and adds up the growth of
--     the counters of the NIC.
-- note: The counters start with the node, not with the instance: in an interval with a smaller counter, the node
--     restarted.
-- awr view: DBA_HIST_IC_DEVICE_STATS
-- columns: receive_errors, receive_dropped, receive_buf_or, receive_frame_err, send_errors, sends_dropped,
--     send_buf_or, send_carrier_lost, packets_received, packets_sent
-- versions: 11.2-
WITH kept AS (
    SELECT v.dbid,
           v.instance_number,
           v.snap_id,
           s.end_interval_time AS end_time,
           v.if_name,
           v.ip_addr,
           v.mtu,
           v.$each,
$joined
),
differences AS (
    SELECT k.instance_number,
           k.snap_id,
           k.end_time,
           k.if_name,
           k.ip_addr,
           k.mtu,
           k.$each - LAG(k.$each) OVER (
               PARTITION BY k.dbid, k.instance_number, k.if_name, k.ip_addr ORDER BY k.snap_id) AS $each,
      FROM kept k
),
growth AS (
    SELECT d.*,
           CASE WHEN d.snap_id > :base_snap
                 AND d.$each >= 0
                THEN 1 ELSE 0 END AS is_whole
      FROM differences d
     WHERE d.snap_id >= :base_snap
)
SELECT g.instance_number,
       g.if_name,
       g.ip_addr,
       g.mtu,
       MAX(g.end_time) AS last_seen,
       SUM(CASE WHEN g.is_whole = 1 THEN g.$each ELSE 0 END) AS $each,
  FROM growth g
 GROUP BY g.instance_number, g.if_name, g.ip_addr, g.mtu
 ORDER BY g.instance_number, g.if_name, g.ip_addr, g.mtu
