-- purpose: racwire reads the pings of 500 bytes and of 8 KB from each instance to each other instance since its
--     start, with the times in microseconds.
-- reads: GV$INSTANCE_PING
-- grants: SYS.GV_$INSTANCE_PING, SYS.V_$INSTANCE_PING
-- licence: none
-- versions: 11.2-
SELECT p.inst_id,
       p.instance AS target,
       p.count_500b,
       p.wait_time_500b AS time_500b_us,
       p.count_8k,
       p.wait_time_8k AS time_8k_us
  FROM gv$instance_ping p
 WHERE p.instance <> p.inst_id
