# Makes the C++ header of the queries: a constant kName for each name.sql that has parameters. The
# lines `:part` at its top name other files, whose text precedes its own; psql reads such a line as a
# variable.
#
#     awk -f queries.awk queries/*.sql

function constant(name,    words, i, camel) {
  split(name, words, "_")
  for (i = 1; i in words; i++) camel = camel toupper(substr(words[i], 1, 1)) substr(words[i], 2)
  return "k" camel
}

FNR == 1 {
  name = FILENAME
  sub(/.*\//, "", name)
  sub(/\.sql$/, "", name)
  names[++count] = name
}
/^-- Parameters: / { is_query[name] = 1 }
/^--/ { next }
/^:/ { parts[name] = parts[name] constant(substr($0, 2)) "Text, "; next }
{ text[name] = text[name] "\n" $0 }

END {
  print "// Made from queries/ by queries.awk.\n#pragma once\n\n#include \"convert/query.h\"\n\nnamespace snowflake {"
  for (i = 1; i <= count; i++) printf "inline constexpr char %sText[] = R\"sql(%s)sql\";\n", constant(names[i]), text[names[i]]
  for (i = 1; i <= count; i++)
    if (names[i] in is_query) printf "inline constexpr QueryParts %s = {%s%sText};\n", constant(names[i]), parts[names[i]], constant(names[i])
  print "}  // namespace snowflake"
}
