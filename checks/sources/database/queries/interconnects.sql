-- purpose: racwire reads the interfaces that each instance uses as interconnect, and the source of this choice.
-- reads: GV$CLUSTER_INTERCONNECTS
-- grants: SYS.GV_$CLUSTER_INTERCONNECTS, SYS.V_$CLUSTER_INTERCONNECTS
-- licence: none
-- versions: 11.2-
SELECT ci.inst_id,
       ci.name,
       ci.ip_address,
       ci.is_public,
       ci.source
  FROM gv$cluster_interconnects ci
