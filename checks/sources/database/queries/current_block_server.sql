-- purpose: racwire reads the histogram of the log flushes that each instance needed to serve current blocks.
-- note: The columns of the histogram differ by version.
-- reads: GV$CURRENT_BLOCK_SERVER
-- grants: SYS.GV_$CURRENT_BLOCK_SERVER, SYS.V_$CURRENT_BLOCK_SERVER
-- licence: none
-- versions: 11.2-
SELECT c.*
  FROM gv$current_block_server c
