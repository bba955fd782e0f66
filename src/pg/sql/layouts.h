// The layout of a call: this database's, or one that an argument names or defines.
#pragma once

#include "core/layout_text.h"
#include "pg/pg.h"

namespace snowflake {
struct ChosenLayout {
  const Layout *layout;
  const LayoutDefinition *definition;  // nullptr: the layout itself says where an id's fields are
  const text *name;                    // nullptr: this database's

  Tick max_readable_tick() const {
    return definition != nullptr ? definition->max_tick() : layout->max_readable_tick();
  }
  PartsFault Fits(const Parts &parts) const {
    return definition != nullptr ? definition->Fits(parts) : layout->Fits(parts);
  }
  int64_t Pack(const Parts &parts) const {
    return definition != nullptr ? definition->Pack(parts) : layout->Pack(parts);
  }
};

// The layout that argument number `argument` of an SQL function names or defines, or this
// database's if it was called without that argument. Error: 22023 if no layout has that name, or
// the definition is invalid.
ChosenLayout LayoutArgument(FunctionCallInfo fcinfo, int argument);

// Error: 22003.
Parts PartsOf(const ChosenLayout &chosen, int64_t id);

// For the beginning of a sentence.
const char *NameOfLayout(const ChosenLayout &chosen);

// This database's layout has no such id.
[[noreturn]] void ReportForeignId(int64_t id, const Layout &layout);

}  // namespace snowflake
