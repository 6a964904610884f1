-- purpose: racwire adds up the blocks that each instance received and lost from each other instance in a range of
--     snapshots, with the times in microseconds.
-- note: All classes of blocks are added up. Delayed blocks (busy, congested) have columns of their own, but
--     CR_BLOCK_TIME and CURRENT_BLOCK_TIME contain their time (Database Reference).
-- reads: DBA_HIST_SNAPSHOT, DBA_HIST_INST_CACHE_TRANSFER
-- grants: SYS.DBA_HIST_SNAPSHOT, SYS.DBA_HIST_INST_CACHE_TRANSFER
-- licence: Diagnostics Pack
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
      FROM dba_hist_snapshot s
      JOIN dba_hist_inst_cache_transfer v
        ON v.dbid = s.dbid
       AND v.instance_number = s.instance_number
       AND v.snap_id = s.snap_id
     WHERE s.dbid = :dbid
       AND s.snap_id BETWEEN :from_snap AND :last_snap
       AND v.dbid = :dbid
       AND v.snap_id BETWEEN :from_snap AND :last_snap
       AND v.instance <> v.instance_number
     GROUP BY v.dbid, v.instance_number, v.snap_id, s.startup_time, v.instance
),
differences AS (
    SELECT k.instance_number,
           k.snap_id,
           k.sender,
           k.lost - LAG(k.lost) OVER (
               PARTITION BY k.dbid, k.instance_number, k.startup_time, k.sender ORDER BY k.snap_id) AS lost,
           k.lost_time_us - LAG(k.lost_time_us) OVER (
               PARTITION BY k.dbid, k.instance_number, k.startup_time, k.sender ORDER BY k.snap_id) AS lost_time_us,
           k.cr_blocks - LAG(k.cr_blocks) OVER (
               PARTITION BY k.dbid, k.instance_number, k.startup_time, k.sender ORDER BY k.snap_id) AS cr_blocks,
           k.cr_time_us - LAG(k.cr_time_us) OVER (
               PARTITION BY k.dbid, k.instance_number, k.startup_time, k.sender ORDER BY k.snap_id) AS cr_time_us,
           k.current_blocks - LAG(k.current_blocks) OVER (
               PARTITION BY k.dbid, k.instance_number, k.startup_time, k.sender ORDER BY k.snap_id) AS current_blocks,
           k.current_time_us - LAG(k.current_time_us) OVER (
               PARTITION BY k.dbid, k.instance_number, k.startup_time, k.sender ORDER BY k.snap_id) AS current_time_us
      FROM kept k
)
SELECT d.instance_number,
       d.sender,
       SUM(d.lost) AS lost,
       SUM(d.lost_time_us) AS lost_time_us,
       SUM(d.cr_blocks) AS cr_blocks,
       SUM(d.cr_time_us) AS cr_time_us,
       SUM(d.current_blocks) AS current_blocks,
       SUM(d.current_time_us) AS current_time_us
  FROM differences d
 WHERE d.snap_id > :base_snap
   AND d.lost >= 0
   AND d.lost_time_us >= 0
   AND d.cr_blocks >= 0
   AND d.cr_time_us >= 0
   AND d.current_blocks >= 0
   AND d.current_time_us >= 0
 GROUP BY d.instance_number, d.sender
 ORDER BY d.instance_number, d.sender
