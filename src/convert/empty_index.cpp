// Expressions are parsed here, under the settings that are pinned. REINDEX copies them from the
// catalog and parses nothing. So no setting of the session that builds the index changes them.
#include "convert/empty_index.h"

#include "pg/catalogs.h"

extern "C" {
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/pg_index.h"
#include "commands/tablecmds.h"
#include "storage/bufmgr.h"
}

namespace snowflake {
namespace {
// Nobody else has seen the index yet.
void MakeInvalid(Oid oid) {
  Relation index = index_open(oid, NoLock);
  if (RelationGetNumberOfBlocks(index) != 0)
    elog(ERROR, "index \"%s\" was not created empty", RelationGetRelationName(index));
  index_close(index, NoLock);
  Relation catalog = table_open(IndexRelationId, RowExclusiveLock);
  HeapTuple row = SearchSysCacheCopy1(INDEXRELID, ObjectIdGetDatum(oid));
  if (!HeapTupleIsValid(row)) elog(ERROR, "cache lookup failed for index %u", oid);
  const Form_pg_index form = reinterpret_cast<Form_pg_index>(GETSTRUCT(row));
  form->indisvalid = false;
  form->indisready = false;
  CatalogTupleUpdate(catalog, &row->t_self, row);
  table_close(catalog, RowExclusiveLock);
}

Oid DefineInvalidIndex(IndexStmt *index, const char *sql) {
  const Oid table = RangeVarGetRelidExtended(index->relation, ShareLock, 0, RangeVarCallbackOwnsRelation, nullptr);
  if (get_rel_relkind(table) == RELKIND_PARTITIONED_TABLE)
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("cannot create index on partitioned table \"%s\" concurrently", get_rel_name(table)),
                    errhint("Create it on the partitions.")));
  index->concurrent = false;
  const Oid oid = DefineEmptyIndex(table, transformIndexStmt(table, index, sql));
  if (!OidIsValid(oid)) return oid;  // IF NOT EXISTS
  CommandCounterIncrement();
  MakeInvalid(oid);
  CommandCounterIncrement();
  return oid;
}

}  // namespace

void CreateEmptyIndex(IndexStmt *index, const char *sql) {
  PreventCommandIfReadOnly("CREATE INDEX");
  PreventCommandDuringRecovery("CREATE INDEX");
  Node *command = reinterpret_cast<Node *>(index);
  const bool collects = EventTriggerBeginCompleteQuery();
  PG_TRY();
  {
    EventTriggerDDLCommandStart(command);
    const ObjectAddress made = {RelationRelationId, DefineInvalidIndex(index, sql), 0};
    EventTriggerCollectSimpleCommand(made, InvalidObjectAddress, command);
    EventTriggerDDLCommandEnd(command);
  }
  PG_FINALLY();
  {
    if (collects) EventTriggerEndCompleteQuery();
  }
  PG_END_TRY();
}

}  // namespace snowflake
