-- purpose: racwire reads the blocks that each instance received and lost from each other instance since its start,
--     with the times in microseconds.
-- note: All classes of blocks are added up. Delayed blocks (busy, congested) have columns of their own, but
--     CR_BLOCK_TIME and CURRENT_BLOCK_TIME contain their time (Database Reference).
-- reads: GV$INSTANCE_CACHE_TRANSFER
-- grants: SYS.GV_$INSTANCE_CACHE_TRANSFER, SYS.V_$INSTANCE_CACHE_TRANSFER
-- licence: none
-- versions: 11.2-
SELECT t.inst_id,
       t.instance AS sender,
       SUM(t.cr_block + t.cr_busy + t.cr_congested) AS cr_blocks,
       SUM(t.cr_block_time) AS cr_time_us,
       SUM(t.current_block + t.current_busy + t.current_congested) AS current_blocks,
       SUM(t.current_block_time) AS current_time_us,
       SUM(t.lost) AS lost,
       SUM(t.lost_time) AS lost_time_us
  FROM gv$instance_cache_transfer t
 WHERE t.instance <> t.inst_id
 GROUP BY t.inst_id, t.instance
