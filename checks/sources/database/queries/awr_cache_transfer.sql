-- purpose: racwire adds up the blocks that each instance received and lost from each other instance in a range of
--     snapshots, with the times in microseconds.
-- note: All classes of blocks are added up. Delayed blocks (busy, congested) have columns of their own, but
--     CR_BLOCK_TIME and CURRENT_BLOCK_TIME contain their time (Database Reference).
-- awr view: DBA_HIST_INST_CACHE_TRANSFER
-- columns: lost, lost_time_us, cr_blocks, cr_time_us, current_blocks, current_time_us
-- versions: 11.2-
WITH kept AS (
    SELECT v.dbid,
           v.instance_number,
           v.snap_id,
           s.startup_time,
           v.instance AS sender,
           SUM(v.lost) AS lost,
           SUM(v.lost_time) AS lost_time_us,
           SUM(v.cr_block + v.cr_busy + v.cr_congested) AS cr_blocks,
           SUM(v.cr_block_time) AS cr_time_us,
           SUM(v.current_block + v.current_busy + v.current_congested) AS current_blocks,
           SUM(v.current_block_time) AS current_time_us
$joined
       AND v.instance <> v.instance_number
     GROUP BY v.dbid, v.instance_number, v.snap_id, s.startup_time, v.instance
),
differences AS (
    SELECT k.instance_number,
           k.snap_id,
           k.sender,
           k.$each - LAG(k.$each) OVER (
               PARTITION BY k.dbid, k.instance_number, k.startup_time, k.sender ORDER BY k.snap_id) AS $each,
      FROM kept k
)
SELECT d.instance_number,
       d.sender,
       SUM(d.$each) AS $each,
  FROM differences d
 WHERE d.snap_id > :base_snap
   AND d.$each >= 0
 GROUP BY d.instance_number, d.sender
 ORDER BY d.instance_number, d.sender
