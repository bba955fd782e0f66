// The databases that issued ids, for the next start of the server: an empty file for each.
//
// 1. It is a hint. A missing file delays the first call until a keeper has started; a wrong one
//    starts a keeper that ends. So nothing here is an error or a wait.
// 2. A database's file is written when its keeper puts its first lease in place, and removed with
//    the extension.
// 3. The next start removes those of dropped databases. A clean shutdown removes it if the server
//    ran for more than a day and the database issued nothing.
#pragma once

#include "pg/pg.h"

namespace snowflake {

// In the postmaster, before recovery: at most so many.
void ForEachIssuer(int most, void (*start)(Oid database));

void NoteIssuer(Oid database);
void ForgetIssuer(Oid database);

}  // namespace snowflake
