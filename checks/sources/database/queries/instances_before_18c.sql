-- purpose: racwire reads the name, the host, the start time and the version of each instance.
-- reads: GV$INSTANCE
-- grants: SYS.GV_$INSTANCE, SYS.V_$INSTANCE
-- licence: none
-- versions: 11.2-12.2
SELECT i.inst_id,
       i.instance_name,
       i.host_name,
       i.version,
       i.startup_time,
       i.status
  FROM gv$instance i
