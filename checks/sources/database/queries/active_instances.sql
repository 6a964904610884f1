-- purpose: racwire reads the list of all instances that are up, also of those that do not answer queries.
-- reads: V$ACTIVE_INSTANCES
-- grants: SYS.V_$ACTIVE_INSTANCES
-- licence: none
-- versions: 11.2-
SELECT a.inst_number,
       a.inst_name
  FROM v$active_instances a
