-- purpose: racwire reads the initialisation parameters of each instance that affect the interconnect.
-- reads: GV$PARAMETER
-- grants: SYS.GV_$PARAMETER, SYS.V_$PARAMETER
-- licence: none
-- versions: 11.2-
SELECT p.inst_id,
       p.name,
       p.value
  FROM gv$parameter p
 WHERE p.name IN ('cluster_database',
                  'cluster_interconnects',
                  'control_management_pack_access',
                  'db_block_size',
                  'db_file_multiblock_read_count',
                  'gcs_server_processes',
                  'parallel_execution_message_size',
                  'parallel_force_local',
                  'parallel_max_servers')
