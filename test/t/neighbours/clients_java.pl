# The Java of doc/clients.md, as far as it needs no more than PostgreSQL's driver: what it brings
# back are the ids in the table. Then the same with ids of the type snowflake_id, as the page's
# table has it.
#
# The driver is Debian's; test/run unpacks it where there is a compiler.

use strict;
use warnings;

use ClientsTest;
use Neighbours;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $java = program_in('java');
my ($driver) = grep { -e } map { "$_/usr/share/java/postgresql.jar" } $ENV{SNOWFLAKE_NEIGHBOURS} // '', '';
left_out_unless($java && program_in('javac') && $driver, 'JDBC', 'apt-get install default-jdk-headless libpostgresql-jdbc-java');

my $server = client_server();
my $folder = PostgreSQL::Test::Utils::tempdir();
my ($code) = recipe('JDBC');
# The generator of the page with what Hibernate gives it, so that what it asks of the driver is run.
my ($generator) = map { $_->{text} } grep { $_->{heading} eq 'Hibernate' } recipes();
$generator =~ s/^\@IdGeneratorType.*\n//m;
$generator =~ s/^public class/static class/m;
my $seen = run_program($java, '-cp', $driver, write_program("$folder/Page.java", <<"JAVA"));
import java.sql.*;
import java.util.*;

class Page {
  interface Work { void execute(Connection connection) throws SQLException; }
  interface SharedSessionContractImplementor { void doWork(Work work); }
  interface IdentifierGenerator { Object generate(SharedSessionContractImplementor session, Object entity); }

  $generator
  public static void main(String[] arguments) throws Exception {
    String url = "jdbc:postgresql://" + System.getenv("PGHOST") + ":" + System.getenv("PGPORT") + "/" + System.getenv("PGDATABASE");
    Connection connection = DriverManager.getConnection(url, System.getenv("PGUSER"), "");
    $code
    SharedSessionContractImplementor session = work -> {
      try { work.execute(connection); } catch (SQLException error) { throw new RuntimeException(error); }
    };
    SnowflakeIds generator = new SnowflakeIds();
    List<Object> drawn = new ArrayList<>();
    for (int i = 0; i < 100; i++) drawn.add(generator.generate(session, null));
    String state = "";
    try {
      connection.createStatement().execute("DO \$\$BEGIN RAISE EXCEPTION 'no id' USING ERRCODE = 'SF001'; END\$\$");
    } catch (SQLException error) {
      state = error.getSQLState();
    }
    System.out.println("[" + id + ", " + drawn + ", \\"" + state + "\\"]");
  }
}
JAVA
are_the_tables($server, [ $seen->[0] ], 'JDBC');
are_drawn($server, $seen->[1], 100, "Hibernate's generator");
is($seen->[2], 'SF001', 'the SQLSTATE of an error');

# Types are those of getObject(). The row is looked for ten times, because the driver soon asks for
# binary values of types that it knows.
my ($get_integer) = remedy_of('JDBC');
my $forms = write_program("$folder/Forms.java", <<"JAVA");
import java.sql.*;
import java.util.*;

class Forms {
  interface Insert { PreparedStatement run() throws SQLException; }
  static Set<String> reads = new TreeSet<>();
  static List<String> ids = new ArrayList<>();

  static long recipe(Connection connection) throws SQLException {
    $code
    return id;
  }

  static String attempt(Insert insert) throws SQLException {
    try (PreparedStatement statement = insert.run(); ResultSet keys = statement.getGeneratedKeys()) {
      while (keys.next()) {
        reads.add(keys.getObject(1).getClass().getSimpleName());
        ids.add(keys.getString(1));
      }
      return "yes";
    } catch (SQLException error) {
      return error.getSQLState();
    }
  }

  static String find(Connection connection, Object known, String id) throws SQLException {
    try (PreparedStatement find = connection.prepareStatement("SELECT id FROM item WHERE id = ? AND name = 'known'")) {
      for (int i = 0; i < 10; i++) {
        find.setObject(1, known);
        ResultSet row = find.executeQuery();
        if (!row.next() || !row.getString(1).equals(id) || row.$get_integer != Long.parseLong(id)) return "no";
        reads.add(row.getObject(1).getClass().getSimpleName());
      }
      return "yes";
    } catch (SQLException error) {
      return error.getSQLState();
    }
  }

  static String list(Collection<String> strings) { return strings.isEmpty() ? "[]" : "[\\"" + String.join("\\", \\"", strings) + "\\"]"; }

  public static void main(String[] arguments) throws Exception {
    String url = "jdbc:postgresql://" + System.getenv("PGHOST") + ":" + System.getenv("PGPORT") + "/" + System.getenv("PGDATABASE");
    Connection connection = DriverManager.getConnection(url, System.getenv("PGUSER"), "");
    String[] id = {"id"};
    ids.add(String.valueOf(recipe(connection)));
    String many = attempt(() -> {
      PreparedStatement insert = connection.prepareStatement("INSERT INTO item (name) VALUES (?)", id);
      for (String name : List.of("second", "third")) {
        insert.setString(1, name);
        insert.addBatch();
      }
      insert.executeBatch();
      return insert;
    });
    ResultSet next = connection.createStatement().executeQuery("SELECT snowflake_nextval()");
    next.next();
    long drawn = next.getLong(1);
    String given = attempt(() -> {
      PreparedStatement insert = connection.prepareStatement("INSERT INTO item VALUES (?, ?)", id);
      insert.setLong(1, drawn);
      insert.setString(2, "given");
      insert.executeUpdate();
      return insert;
    });
    String known = System.getenv("CLIENTS_KNOWN_ID");
    System.out.printf("{\\"one\\": \\"yes\\", \\"many\\": \\"%s\\", \\"given\\": \\"%s\\", \\"finds\\": {\\"long\\": \\"%s\\", \\"String\\": \\"%s\\"}, ",
        many, given, find(connection, Long.valueOf(known), known), find(connection, known, known));
    System.out.println("\\"ids\\": " + list(ids) + ", \\"reads\\": " + list(reads) + "}");
  }
}
JAVA
each_form($server, 'item', sub { my ($form) = @_; is_as_told($server, 'JDBC', $form, run_program($java, '-cp', $driver, $forms)); });

$server->stop('fast');
no_recipe_left();
