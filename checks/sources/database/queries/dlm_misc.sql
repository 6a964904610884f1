-- purpose: racwire reads the statistics of the messages between instances since the start of each instance.
-- note: The name of a statistic contains its unit.
-- reads: GV$DLM_MISC
-- grants: SYS.GV_$DLM_MISC, SYS.V_$DLM_MISC
-- licence: none
-- versions: 11.2-
SELECT d.inst_id,
       d.name,
       d.value
  FROM gv$dlm_misc d
 WHERE d.name IN ('gcs msgs received',
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
