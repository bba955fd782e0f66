// The guards (guards.cpp) as triggers: which each table of the registry has, which are lost, and
// how they are made, by the install script and again.
//
// 1. One of rows that must not fall checks them after they are stored, because another BEFORE
//    trigger may change a row after snowflake_guard.
// 2. They are known by function, kind and state, not by name.
// 3. MakeGuards() has the rights of its caller. It passes OIDs or qualified names and runs no SQL.
//    So it does not fire event triggers, and finds no object that others have planted in the place
//    of another.
#pragma once

#include "pg/catalogs.h"

namespace snowflake {
// Whether a table, which is open and locked, has all guards that the protocol needs. `function` is
// snowflake_guard().
bool HasGuards(Relation table, Oid function);

// The extension's function of that name without arguments. InvalidOid: there is none.
Oid TriggerFunction(Oid extension, Oid schema, const char *name);

// The guards that an extension's tables and its drop lack, for an operator; nullptr: none. Tables
// that cannot be locked at once are left out. Needs no right to the tables.
char *LostGuards(Oid extension);

// Makes those that are lost; returns how many. Requires: the extension's tables in its schema,
// locked by FindTables() with a mode that keeps out whatever else changes them. Errors: 42501
// without the rights to create triggers on them, 55000 if a function of triggers was changed.
int MakeGuards(Oid extension, Oid schema);

}  // namespace snowflake
