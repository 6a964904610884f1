-- purpose: racwire adds up the statistics of the messages between instances in a range of snapshots, without the
--     intervals that contain a restart.
-- reads: DBA_HIST_SNAPSHOT, DBA_HIST_DLM_MISC
-- grants: SYS.DBA_HIST_SNAPSHOT, SYS.DBA_HIST_DLM_MISC
-- licence: Diagnostics Pack
-- versions: 11.2-
WITH kept AS (
    SELECT v.dbid,
           v.instance_number,
           v.snap_id,
           s.startup_time,
           s.end_interval_time AS end_time,
           v.name,
           v.value
      FROM dba_hist_snapshot s
      JOIN dba_hist_dlm_misc v
        ON v.dbid = s.dbid
       AND v.instance_number = s.instance_number
       AND v.snap_id = s.snap_id
     WHERE s.dbid = :dbid
       AND s.snap_id BETWEEN :from_snap AND :last_snap
       AND v.dbid = :dbid
       AND v.snap_id BETWEEN :from_snap AND :last_snap
       AND v.name IN ('gcs msgs received',
                      'ges msgs received',
                      'gcs msgs process time(ms)',
                      'ges msgs process time(ms)',
                      'msgs sent queued',
                      'msgs sent queue time (ms)',
                      'msgs sent queued on ksxp',
                      'msgs sent queue time on ksxp (ms)',
                      'msgs received queued',
                      'msgs received queue time (ms)',
                      'msgs received kernel queue time (ns)',
                      'messages sent directly',
                      'messages sent indirectly',
                      'messages flow controlled')
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
 WHERE d.snap_id > :base_snap
   AND d.difference >= 0
 GROUP BY d.instance_number, d.name
 ORDER BY d.instance_number, d.name
