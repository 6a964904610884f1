-- purpose: racwire reads the Cache Fusion statistics of each instance since its start, with its transactions, its DB
--     time and its waits for other instances.
-- note: Times are in centiseconds.
-- reads: GV$SYSSTAT
-- grants: SYS.GV_$SYSSTAT, SYS.V_$SYSSTAT
-- licence: none
-- versions: 11.2-
SELECT s.inst_id,
       s.name,
       s.value
  FROM gv$sysstat s
 WHERE s.name IN ('gc blocks lost',
                  'gc claim blocks lost',
                  'gc blocks corrupt',
                  'gc cr blocks received',
                  'gc cr block receive time',
                  'gc current blocks received',
                  'gc current block receive time',
                  'gc cr blocks served',
                  'gc cr block build time',
                  'gc cr block flush time',
                  'gc cr block send time',
                  'gc current blocks served',
                  'gc current block pin time',
                  'gc current block flush time',
                  'gc current block send time',
                  'gc local grants',
                  'gc remote grants',
                  'gcs messages sent',
                  'ges messages sent',
                  'consistent gets from cache',
                  'db block gets from cache',
                  'physical reads cache',
                  'DBWR fusion writes',
                  'DB time',
                  'user commits',
                  'user rollbacks',
                  'cluster wait time',
                  'user I/O wait time',
                  'table scan blocks gotten',
                  'PX remote messages sent',
                  'PX remote messages recv''d')
