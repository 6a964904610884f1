-- purpose: Which instances the cluster says are up, whether or not they can be asked.
-- reads: V$ACTIVE_INSTANCES
-- grants: SYS.V_$ACTIVE_INSTANCES
-- licence: none
-- versions: 11.2-
SELECT a.inst_number,
       a.inst_name
  FROM v$active_instances a
