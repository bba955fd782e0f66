// The scripts run with a superuser's rights, and find names in pg_catalog first and then in the extension's schema. There a
// function or operator that fits the types better than PostgreSQL's own wins all the same: setval(text, bigint) over
// setval(regclass, bigint). Scripts of released versions never change, and some of their calls leave room for that. So what
// a script calls must be PostgreSQL's own or the extension's, or it fails.
//
// Not looked at are queries of functions that event triggers call, which belong to a utility command further in, and what
// runs behind the fence of the tables' owner.
#include "pg/scripts.h"

namespace snowflake {

bool in_scripts = false;

namespace {

post_parse_analyze_hook_type next_parse_hook = nullptr;

bool IsForeign(Oid function, void *found) {
  if (get_func_namespace(function) == PG_CATALOG_NAMESPACE) return false;
  if (getExtensionOfObject(ProcedureRelationId, function) == CurrentExtensionObject) return false;
  *static_cast<Oid *>(found) = function;
  return true;
}

bool CallsForeign(Node *node, void *found) {
  const auto walker = reinterpret_cast<TreeWalker>(reinterpret_cast<void *>(CallsForeign));
  if (node == nullptr) return false;
  if (check_functions_in_node(node, IsForeign, found)) return true;
  if (IsA(node, Query)) return query_tree_walker(reinterpret_cast<Query *>(node), walker, found, 0);
  return expression_tree_walker(node, walker, found);
}

void CheckScript(ParseState *state, Query *query, ParsedJumble *jumble) {
  if (next_parse_hook) next_parse_hook(state, query, jumble);
  Oid found = InvalidOid;
  if (!in_scripts || !creating_extension || InSecurityRestrictedOperation()) return;
  if (CurrentExtensionObject != get_extension_oid("snowflake", true)) return;
  if (!CallsForeign(reinterpret_cast<Node *>(query), &found)) return;
  ereport(
      ERROR,
      (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
       errmsg("the extension's script would call %s", format_procedure_qualified(found)),
       errdetail("It fits the call better than PostgreSQL's own function, and would run with a superuser's rights."),
       errhint("Drop it, or choose a schema for the extension in which only trusted roles may create.")));
}

}  // namespace

bool RunsScripts(const Node *command) { return IsA(command, CreateExtensionStmt) || IsA(command, AlterExtensionStmt); }

void WatchScripts() {
  next_parse_hook = post_parse_analyze_hook;
  post_parse_analyze_hook = CheckScript;
}

}  // namespace snowflake
