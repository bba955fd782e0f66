# Makes the C++ header of the queries: a constant kName for each name.sql that has parameters. The
# lines `:part` at its top name other files, whose text precedes its own, and which may have parts
# themselves; psql reads such a line as a variable.
#
#     awk -f queries.awk queries/*.sql

function constant(name,    words, i, camel) {
  split(name, words, "_")
  for (i = 1; i in words; i++) camel = camel toupper(substr(words[i], 1, 1)) substr(words[i], 2)
  return "k" camel
}

function texts(name,    words, i, all) {
  split(parts[name], words)
  for (i = 1; i in words; i++) all = all texts(words[i])
  return all constant(name) "Text, "
}

FNR == 1 {
  name = FILENAME
  sub(/.*\//, "", name)
  sub(/\.sql$/, "", name)
  names[++count] = name
}
/^-- Parameters: / { is_query[name] = 1 }
/^--/ { next }
/^:/ { parts[name] = parts[name] " " substr($0, 2); next }
{ text[name] = text[name] "\n" $0 }

END {
  print "// Made from queries/ by queries.awk.\n#pragma once\n\n#include \"convert/query.h\"\n\nnamespace snowflake {"
  for (i = 1; i <= count; i++) printf "inline constexpr char %sText[] = R\"sql(%s)sql\";\n", constant(names[i]), text[names[i]]
  for (i = 1; i <= count; i++)
    if (names[i] in is_query) printf "inline constexpr QueryParts %s = {%s};\n", constant(names[i]), texts(names[i])
  print "}  // namespace snowflake"
}
