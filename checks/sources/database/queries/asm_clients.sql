-- purpose: racwire reads which ASM instance each instance uses: with Flex ASM it can be on another node.
-- reads: GV$ASM_CLIENT
-- grants: SYS.GV_$ASM_CLIENT, SYS.V_$ASM_CLIENT
-- licence: none
-- versions: 11.2-
-- note: In an instance of a database the view shows its ASM instance, a row for each disk group in use; without open
--     files in ASM it is empty (Database Reference).
SELECT ac.inst_id,
       ac.instance_name,
       ac.status
  FROM gv$asm_client ac
