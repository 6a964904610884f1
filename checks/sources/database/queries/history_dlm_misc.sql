-- purpose: racwire adds up the statistics of the messages between instances in a range of snapshots, without the
--     intervals that contain a restart.
-- note: The name of a statistic contains its unit.
-- awr reads: DBA_HIST_SNAPSHOT, DBA_HIST_DLM_MISC
-- awr grants: SYS.DBA_HIST_SNAPSHOT, SYS.DBA_HIST_DLM_MISC
-- awr licence: Diagnostics Pack
-- awr values: dba_hist_dlm_misc
-- statspack reads: STATS$SNAPSHOT, STATS$DLM_MISC
-- statspack grants: PERFSTAT.STATS$SNAPSHOT, PERFSTAT.STATS$DLM_MISC
-- statspack licence: none
-- statspack values: perfstat.stats$dlm_misc
-- names: gcs msgs received, ges msgs received, gcs msgs process time(ms), ges msgs process time(ms),
--     msgs sent queued, msgs sent queue time (ms), msgs sent queued on ksxp, msgs sent queue time on ksxp (ms),
--     msgs received queued, msgs received queue time (ms), msgs received kernel queue time (ns),
--     messages sent directly, messages sent indirectly, messages flow controlled
-- versions: 11.2-
WITH kept AS (
    SELECT v.dbid,
           v.instance_number,
           v.snap_id,
           s.startup_time,
           $end_time AS end_time,
           v.name,
           v.value
      FROM $snapshots s
      JOIN $values v
        ON v.dbid = s.dbid
       AND v.instance_number = s.instance_number
       AND v.snap_id = s.snap_id
     WHERE s.dbid = :dbid
       AND $in_range
awr|       AND v.dbid = :dbid
awr|       AND v.snap_id BETWEEN :from_snap AND :last_snap
       AND v.name IN ($names)
),
differences AS (
    SELECT k.instance_number,
           k.snap_id,
           k.end_time,
           k.name,
           k.value - LAG(k.value) OVER (
               PARTITION BY k.dbid, k.instance_number, k.startup_time, k.name ORDER BY k.snap_id) AS difference
      FROM kept k
)
SELECT d.instance_number,
       d.name,
       SUM(d.difference) AS difference
  FROM differences d
 WHERE d.$after_base
   AND d.difference >= 0
 GROUP BY d.instance_number, d.name
 ORDER BY d.instance_number, d.name
