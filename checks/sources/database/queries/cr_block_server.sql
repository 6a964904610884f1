-- purpose: racwire reads the number of log flushes that each instance needed to serve consistent-read blocks.
-- reads: GV$CR_BLOCK_SERVER
-- grants: SYS.GV_$CR_BLOCK_SERVER, SYS.V_$CR_BLOCK_SERVER
-- licence: none
-- versions: 11.2-
SELECT c.inst_id,
       c.flushes
  FROM gv$cr_block_server c
