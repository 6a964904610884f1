-- purpose: racwire reads the waits of each instance for other instances since its start, with the times in
--     microseconds.
-- reads: GV$SYSTEM_EVENT
-- grants: SYS.GV_$SYSTEM_EVENT, SYS.V_$SYSTEM_EVENT
-- licence: none
-- versions: 11.2-
SELECT e.inst_id,
       e.event,
       e.total_waits,
       e.time_waited_micro
  FROM gv$system_event e
 WHERE e.wait_class = 'Cluster'
