// What snowflake_convert() has to say.
#include "pg/convert/report.h"

namespace snowflake {

void ReportTableFault(TableFault fault, const char *table, const char *extension, bool other) {
  const char *detail = "";
  const char *hint = "";
  int code = ERRCODE_WRONG_OBJECT_TYPE;
  switch (fault) {
    case TableFault::kNoTable:
      detail = "It is not a table that holds ids of its own.";
      hint = "Name the table that the rows are in.";
      break;
    case TableFault::kForeign:
      detail = "Its rows are on another server.";
      hint = "Convert the table there.";
      break;
    case TableFault::kTemporary:
      detail = "A temporary table ends with its session.";
      hint = "Create it with that default.";
      break;
    case TableFault::kSystem:
      code = ERRCODE_INSUFFICIENT_PRIVILEGE;
      detail = "It belongs to PostgreSQL itself.";
      hint = "Name a table of your own.";
      break;
    case TableFault::kExtension:
      code = ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
      detail =
          psprintf("It belongs to the extension \"%s\", and a dump does not carry what is changed there.", extension);
      hint = "This is for the extension itself to change.";
      break;
    case TableFault::kOwner:
      ereport(ERROR,
              (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("must be owner of %s", table),
               other ? errdetail("It inherits or refers to the column that is converted, and changes with it.") : 0,
               errhint("Call it as a role that owns all tables concerned.")));
  }
  if (other) hint = "It inherits or refers to the column that is converted: detach it or drop its foreign key first.";
  ereport(ERROR, (errcode(code), errmsg("cannot convert %s", table), errdetail("%s", detail), errhint("%s", hint)));
  pg_unreachable();
}

void ReportOtherOwner(const char *table, const char *its_owner, const char *owner) {
  ereport(ERROR,
          (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("cannot convert a table together with %s", table),
           errdetail("That one belongs to %s, the converted one to %s: code that hangs on the one would run with the "
                     "rights of the other.",
                     its_owner, owner),
           errhint("Detach it or drop its foreign key first, or give both one owner: ALTER TABLE ... OWNER TO.")));
  pg_unreachable();
}

void ReportColumnFault(ColumnFault fault, const char *column, const char *what) {
  const char *detail = "";
  const char *hint = "";
  int code = ERRCODE_WRONG_OBJECT_TYPE;
  switch (fault) {
    case ColumnFault::kInherited:
      detail = psprintf("It is inherited from %s.", what);
      hint = psprintf("Convert it in %s; this one changes with it.", what);
      break;
    case ColumnFault::kSeveralRoots:
      code = ERRCODE_INVALID_TABLE_DEFINITION;
      detail = psprintf("It is inherited from %s, and its type cannot be changed in all of them at once.", what);
      hint = "Let its table inherit from one of them only: ALTER TABLE ... NO INHERIT.";
      break;
    case ColumnFault::kGenerated:
      detail = "It is a generated column.";
      hint = "Make it a plain column first: ALTER TABLE ... ALTER COLUMN ... DROP EXPRESSION.";
      break;
    case ColumnFault::kTypedTable:
      detail = "Its table has its columns from a type.";
      hint = "Make it a plain table first: ALTER TABLE ... NOT OF.";
      break;
    case ColumnFault::kType:
      code = ERRCODE_DATATYPE_MISMATCH;
      detail = psprintf("It is of type %s; ids are bigint.", what);
      hint = "Only columns of smallint, integer and bigint can be converted.";
      break;
    case ColumnFault::kReferringType:
      code = ERRCODE_DATATYPE_MISMATCH;
      detail = psprintf("It refers to the column that is converted, and is of type %s; ids are bigint.", what);
      hint = "Only columns of smallint, integer and bigint can be widened: change its type first.";
      break;
    case ColumnFault::kOwnNotNull:
      code = ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
      detail =
          "It has a NOT NULL of its own beside the one that it inherits, and a partition's type then cannot change.";
      hint = "Detach the partition and attach it again: then it has only the one that it inherits.";
      break;
  }
  ereport(ERROR, (errcode(code), errmsg("cannot convert %s", column), errdetail("%s", detail), errhint("%s", hint)));
  pg_unreachable();
}

void ReportIdsFromElsewhere(const char *column, const char *foreign_key, const char *from) {
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("cannot convert %s", column),
                  errdetail("It takes its ids from %s, by the foreign key \"%s\".", from, foreign_key),
                  errhint("Convert %s; this one follows it.", from)));
  pg_unreachable();
}

void ReportObjectsOnNarrow(const char *objects) {
  ereport(ERROR, (errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
                  errmsg("cannot change the type of columns that other objects depend on"), errdetail("%s", objects),
                  errhint("Drop these objects, convert, and create them again.")));
  pg_unreachable();
}

void ReportSequenceInUse(const char *users) {
  ereport(ERROR, (errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
                  errmsg("cannot drop a sequence that other objects depend on"), errdetail("%s", users),
                  errhint("Convert those columns first, or let them take their values from elsewhere.")));
  pg_unreachable();
}

void ReportLargeIds(const char *column, int64_t largest, int64_t smallest_now) {
  ereport(
      ERROR,
      (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("%s has ids beyond those that are issued now", column),
       errdetail("Its largest id is %lld; ids issued now begin at %lld.", static_cast<long long>(largest),
                 static_cast<long long>(smallest_now)),
       errhint("Give these rows smaller ids first, or use a layout with an earlier epoch, whose ids are larger.")));
  pg_unreachable();
}

void ReportMovedMeanwhile(const char *column) {
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("cannot convert %s", column),
                  errdetail("A schema was renamed, or an event trigger interfered, while it was being converted."),
                  errhint("Try again.")));
  pg_unreachable();
}

void NoticeIssuing(const char *column, const char *segment) {
  ereport(NOTICE, (segment == nullptr ? errmsg("%s takes its ids from snowflake_nextval() already", column)
                                      : errmsg("%s takes its numbers from segment \"%s\" already", column, segment)));
}

void ReportSegmentIsBoolean(const char *segment) {
  ereport(ERROR,
          (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("cannot convert to a segment called \"%s\"", segment),
           errdetail("It could be meant for the argument dry_run, which is a boolean."),
           errhint("For a dry run write dry_run => true.")));
  pg_unreachable();
}

void ReportNoNumberAbove(const char *column, const char *type, int64_t last) {
  ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), errmsg("cannot convert %s", column),
                  errdetail("Its numbers, or its sequence's, go up to %lld, and %s has none above.", Long(last), type),
                  errhint("Change its type first, or give these rows smaller numbers.")));
  pg_unreachable();
}

void ReportSegmentOutOfSight(const char *column, int64_t last, const char *creation, const char *raise) {
  ereport(ERROR,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("cannot convert %s", column),
           errdetail("The registry is in another database, and which numbers nodes have cannot be seen from here; the"
                     " column's, or its sequence's, go up to %lld.",
                     Long(last)),
           errhint("On the registry, %s makes such a segment, and %s raises one of which no node has smaller numbers."
                   " Then set the default here, by ALTER TABLE.",
                   creation, raise)));
  pg_unreachable();
}

void ReportSegmentTooLarge(const char *column, const char *segment, int64_t last_value, const char *type) {
  ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), errmsg("cannot convert %s", column),
                  errdetail("What segment \"%s\" hands out next is above %lld, and %s has no such number.", segment,
                            Long(last_value), type),
                  errhint("Name another segment, or change the column's type first.")));
  pg_unreachable();
}

void ReportSegmentTooSmall(const char *column, const char *segment, int64_t max_value, int64_t last) {
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("cannot convert %s", column),
                  errdetail("Its numbers, or its sequence's, go up to %lld, and segment \"%s\" ends at %lld.",
                            Long(last), segment, Long(max_value)),
                  errhint("Name another segment.")));
  pg_unreachable();
}

void ReportHeldNumbers(const char *column, const char *segment, const char *holder, int64_t held_to, int64_t smallest) {
  ereport(ERROR,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("cannot convert %s", column),
           errdetail("Node \"%s\" may have numbers of segment \"%s\" up to %lld, and the column's begin at %lld: it"
                     " could issue one of them again.",
                     holder, segment, Long(held_to), Long(smallest)),
           errhint("Name another segment. If that node is gone for good, its row in snowflake_range can be"
                   " deleted.")));
  pg_unreachable();
}

void ReportNoRightToSegment(const char *function, const char *column, int64_t last) {
  ereport(ERROR,
          (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("permission denied for function %s", function),
           errdetail("The segment's numbers have to begin above %lld, for %s.", Long(last), column),
           errhint("Whoever may execute it can convert the table as a member of its owner, or make a segment that"
                   " begins above, which its owner may then convert to.")));
  pg_unreachable();
}

}  // namespace snowflake
