// The setting of adoption.
#pragma once

namespace snowflake {
void DefineAdoption();

}  // namespace snowflake
