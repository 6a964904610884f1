-- purpose: Log flushes that serving current blocks has cost each instance, as a histogram whose columns differ by version.
-- reads: GV$CURRENT_BLOCK_SERVER
-- grants: SYS.GV_$CURRENT_BLOCK_SERVER, SYS.V_$CURRENT_BLOCK_SERVER
-- licence: none
-- versions: 11.2-
SELECT c.*
  FROM gv$current_block_server c
