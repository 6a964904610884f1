-- purpose: The interconnects that each instance really uses, and where it has them from.
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
