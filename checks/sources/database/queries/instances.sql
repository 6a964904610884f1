-- purpose: racwire reads the name, the host, the start time and the release update of each instance.
-- reads: GV$INSTANCE
-- grants: SYS.GV_$INSTANCE, SYS.V_$INSTANCE
-- licence: none
-- versions: 18-
SELECT i.inst_id,
       i.instance_name,
       i.host_name,
       i.version_full AS version,
       i.startup_time,
       i.status
  FROM gv$instance i
