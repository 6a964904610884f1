-- purpose: racwire reads the DB time and the waits for other instances of each service since the start of each
--     instance, in microseconds, and the blocks that its sessions received from other instances.
-- reads: GV$SERVICE_STATS
-- grants: SYS.GV_$SERVICE_STATS, SYS.V_$SERVICE_STATS
-- licence: none
-- versions: 11.2-
SELECT s.inst_id,
       s.service_name,
       s.stat_name,
       s.value
  FROM gv$service_stats s
 WHERE s.stat_name IN ('DB time',
                       'cluster wait time',
                       'gc cr blocks received',
                       'gc current blocks received')
