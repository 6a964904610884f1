-- purpose: racwire adds up the statistics of the messages between instances in a range of snapshots, without the
--     intervals that contain a restart.
-- reads: STATS$SNAPSHOT, STATS$DLM_MISC
-- grants: PERFSTAT.STATS$SNAPSHOT, PERFSTAT.STATS$DLM_MISC
-- licence: none
-- versions: 11.2-
WITH kept AS (
    SELECT v.dbid,
           v.instance_number,
           v.snap_id,
           s.startup_time,
           CAST(s.snap_time AS TIMESTAMP) AS end_time,
           v.name,
           v.value
      FROM perfstat.stats$snapshot s
      JOIN perfstat.stats$dlm_misc v
        ON v.dbid = s.dbid
       AND v.instance_number = s.instance_number
       AND v.snap_id = s.snap_id
     WHERE s.dbid = :dbid
       AND s.snap_time BETWEEN :from_time AND :last_time
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
 WHERE d.end_time > :base_time
   AND d.difference >= 0
 GROUP BY d.instance_number, d.name
 ORDER BY d.instance_number, d.name
