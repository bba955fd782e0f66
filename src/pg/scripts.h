// The extension's install and upgrade scripts, while they run.
#pragma once

#include "pg/pg.h"

namespace snowflake {

// Whether a utility command may run them: CASCADE creates what another extension requires.
bool RunsScripts(const Node *command);

// Whether it is the innermost one under way; kept by the library's utility hook.
extern bool in_scripts;

// Called once per load of the library.
void WatchScripts();

}  // namespace snowflake
