// The databases of this server that issued ids, for the next start of the server: an empty file for each in a folder of the
// data directory, with the database's OID as its name.
//
// 1. It is a hint. What is missing costs the first call the time that a keeper takes to start; what is wrong, the start of a
//    keeper that leaves. So nothing here is an error, and nothing is waited for.
// 2. A database's file is written when its keeper puts its first lease in place, and removed when the extension is dropped.
//    What a dropped database left is removed at the next start of the server.
// 3. A life of the server of more than a day in which the database issued nothing, and which ended in good order, removes
//    it, too.
#pragma once

#include "pg/pg.h"

namespace snowflake {

// In the postmaster, before anything is recovered: at most so many.
void ForEachIssuer(int most, void (*start)(Oid database));

void NoteIssuer(Oid database);
void ForgetIssuer(Oid database);

}  // namespace snowflake
