// Headers of PostgreSQL for catalogs, tables and types, and differences between its versions.
#pragma once

#include "pg/lists.h"
#include "pg/pg.h"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_database.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_subscription.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "commands/dbcommands.h"
#include "commands/extension.h"
#include "commands/sequence.h"
#include "parser/parse_type.h"
#include "rewrite/rewriteHandler.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rangetypes.h"
#include "utils/regproc.h"
#include "utils/rel.h"
#include "utils/rls.h"
#include "utils/ruleutils.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
}

namespace snowflake {
// 17 takes the open relation. The lock is the weakest for opening, and ends here: a statement that
// needs a number locks the table itself.
inline Oid IdentitySequence(Oid relation, AttrNumber column) {
#if PG_VERSION_NUM >= 170000
  Relation table = table_open(relation, AccessShareLock);
  const Oid sequence = getIdentitySequence(table, column, true);
  table_close(table, AccessShareLock);
  return sequence;
#else
  return getIdentitySequence(relation, column, true);
#endif
}

// 16 replaced the functions for each kind of object by one.
inline bool MayExecute(Oid function) {
#if PG_VERSION_NUM >= 160000
  return object_aclcheck(ProcedureRelationId, function, GetUserId(), ACL_EXECUTE) == ACLCHECK_OK;
#else
  return pg_proc_aclcheck(function, GetUserId(), ACL_EXECUTE) == ACLCHECK_OK;
#endif
}

// 16 can return an error instead of raising it.
inline RangeType *MakeRange(TypeCacheEntry *type, RangeBound *lower, RangeBound *upper, bool empty) {
#if PG_VERSION_NUM >= 160000
  return make_range(type, lower, upper, empty, nullptr);
#else
  return make_range(type, lower, upper, empty);
#endif
}

// From 18 on a check constraint need not be enforced.
inline bool IsEnforced(const ConstrCheck &check) {
#if PG_VERSION_NUM >= 180000
  return check.ccenforced;
#else
  return true;
#endif
}

// NOT NULL, as the grammar has it for a column. 18 made it a constraint that may be without effect.
inline Constraint *NotNullConstraint() {
  Constraint *constraint = makeNode(Constraint);
  constraint->contype = CONSTR_NOTNULL;
  constraint->initially_valid = true;
  constraint->location = -1;
#if PG_VERSION_NUM >= 180000
  constraint->is_enforced = true;
#endif
  return constraint;
}

inline bool IsLocked(Oid relation, LOCKMODE mode) {
  Relation table = RelationIdGetRelation(relation);
  const bool locked = CheckRelationLockedByMe(table, mode, true);
  RelationClose(table);
  return locked;
}

}  // namespace snowflake
