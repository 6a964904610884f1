-- purpose: racwire reads the pluggable databases of each instance and how they are open, before and after a change.
-- reads: GV$PDBS
-- grants: SYS.GV_$PDBS, SYS.V_$PDBS
-- licence: none
-- versions: 12.1-
-- note: PDB$SEED, which every container database has, shows that the user sees all containers.
SELECT pd.inst_id,
       pd.name,
       pd.open_mode,
       pd.restricted
  FROM gv$pdbs pd
