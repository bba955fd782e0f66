# Runs the Java of doc/clients.md that needs only PostgreSQL's driver, and checks that the ids that
# it returns are the ids in the table. Then it does the same with ids of the type snowflake_id, as
# in the page's table.
#
# Beside a reader of an outbox, the generator's ids lose no row, because its pool ends with the
# transaction. If the generator is not told of the transaction's end, rows are lost.
#
# The driver is Debian's; test/run unpacks it if a Java compiler is installed.
# Not in the default run: it needs foreign software. It needs a minute of processor time for the
# Java compiler and for a virtual machine for each pool.

use strict;
use warnings;

use ClientsTest;
use Neighbours;
use PoolsTest;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $java = program_in('java');
my ($driver) = grep { -e } map { "$_/usr/share/java/postgresql.jar" } $ENV{SNOWFLAKE_NEIGHBOURS} // '', '';
left_out_unless($java && program_in('javac') && $driver, 'JDBC', 'apt-get install default-jdk-headless libpostgresql-jdbc-java');

my $server = client_server();
my $folder = PostgreSQL::Test::Utils::tempdir();
my ($code) = recipe('JDBC');
# The page's generator with the arguments that Hibernate passes, so that its calls of the driver are
# run.
my ($generator) = map { $_->{text} } grep { $_->{heading} eq 'Hibernate' } recipes();
$generator =~ s/^\@IdGeneratorType.*\n//m;
$generator =~ s/^public class/static class/m;
# A session that tells its synchronizations of each transaction's end, like Hibernate.
my $hibernate = <<'JAVA';
  interface Work { void execute(Connection connection) throws SQLException; }
  interface IdentifierGenerator { Object generate(SharedSessionContractImplementor session, Object entity); }
  interface Synchronization { void beforeCompletion(); void afterCompletion(int status); }
  static class SynchronizationRegistry {
    final List<Synchronization> registered = new ArrayList<>();
    void registerSynchronization(Synchronization synchronization) { registered.add(synchronization); }
  }
  static class TransactionCoordinator {
    final SynchronizationRegistry registry = new SynchronizationRegistry();
    SynchronizationRegistry getLocalSynchronizations() { return registry; }
  }
  static class SharedSessionContractImplementor {
    final Connection connection;
    final TransactionCoordinator coordinator = new TransactionCoordinator();
    SharedSessionContractImplementor(Connection connection) { this.connection = connection; }
    TransactionCoordinator getTransactionCoordinator() { return coordinator; }
    void doWork(Work work) {
      try { work.execute(connection); } catch (SQLException error) { throw new RuntimeException(error); }
    }
    void end(boolean commit) throws SQLException {
      if (commit) connection.commit(); else connection.rollback();
      List<Synchronization> registered = new ArrayList<>(coordinator.registry.registered);
      coordinator.registry.registered.clear();
      for (Synchronization synchronization : registered) synchronization.afterCompletion(commit ? 3 : 4);
    }
  }
  static Connection connect() throws SQLException {
    String url = "jdbc:postgresql://" + System.getenv("PGHOST") + ":" + System.getenv("PGPORT") + "/" + System.getenv("PGDATABASE");
    return DriverManager.getConnection(url, System.getenv("PGUSER"), "");
  }
JAVA
my $seen = run_program($java, '-cp', $driver, write_program("$folder/Page.java", <<"JAVA"));
import java.sql.*;
import java.util.*;
import java.util.concurrent.*;

class Page {
  $hibernate
  $generator
  public static void main(String[] arguments) throws Exception {
    Connection connection = connect();
    $code
    SharedSessionContractImplementor session = new SharedSessionContractImplementor(connection);
    SnowflakeIds generator = new SnowflakeIds();
    List<Object> taken = new ArrayList<>();
    for (int i = 0; i < 100; i++) taken.add(generator.generate(session, null));
    String state = "";
    try {
      connection.createStatement().execute("DO \$\$BEGIN RAISE EXCEPTION 'no id' USING ERRCODE = 'SF001'; END\$\$");
    } catch (SQLException error) {
      state = error.getSQLState();
    }
    System.out.println("[" + id + ", " + taken + ", \\"" + state + "\\"]");
  }
}
JAVA
are_the_tables($server, [ $seen->[0] ], 'JDBC');
are_drawn($server, $seen->[1], 100, "Hibernate's generator");
is($seen->[2], 'SF001', 'the SQLSTATE of an error');

# Types are those of getObject(). The row is read ten times, because the driver soon requests binary
# values of types that it knows.
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
    long taken = next.getLong(1);
    String given = attempt(() -> {
      PreparedStatement insert = connection.prepareStatement("INSERT INTO item VALUES (?, ?)", id);
      insert.setLong(1, taken);
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

# Together with a reader. Writers act as in PoolsTest.pm; a writer that dies closes the connection
# under its session.
make_pool_outbox($server);
sub pools
{
	my ($name, $ends) = @_;
	my $told = $hibernate =~ s/synchronization\.afterCompletion\(/$ends/r;
	return [ $java, '-cp', $driver, write_program("$folder/$name.java", <<"JAVA") ];
import java.sql.*;
import java.util.*;
import java.util.concurrent.*;

class Pools {
  $told
  $generator
  public static void main(String[] arguments) throws Exception {
    Random chance = new Random(Long.parseLong(arguments[0]));
    SnowflakeIds generator = new SnowflakeIds();
    SharedSessionContractImplementor session = null;
    for (double left = Double.parseDouble(arguments[1]); left > 0; left--) {
      if (session == null) {
        session = new SharedSessionContractImplementor(connect());
        session.connection.setAutoCommit(false);
      }
      try {
        for (int row = chance.nextInt(3); row >= 0; row--) {
          PreparedStatement insert = session.connection.prepareStatement("INSERT INTO outbox VALUES (?, 'x')");
          insert.setLong(1, (Long) generator.generate(session, null));
          insert.executeUpdate();
          Thread.sleep(chance.nextInt(80));
        }
        double fate = chance.nextDouble();
        if (fate < 0.92) {
          session.end(fate < 0.75);
        } else {
          session.connection.close();
          session = null;
        }
      } catch (SQLException error) {
        if (!error.getSQLState().equals("SF007")) throw error;
        System.out.println("refused");
        session.end(false);
      }
      Thread.sleep(chance.nextInt(60));
    }
  }
}
JAVA
}
my $seed = seed();
$server->safe_psql('postgres', 'ALTER SYSTEM SET log_statement = none; SELECT pg_reload_conf()');
my @untold = (command => pools('Untold', 'Objects.hash('), seed => $seed);
pools_are($server, 'Hibernate\'s generator, told of no end', 1, 0, @untold);
pools_are($server, 'Hibernate\'s generator, told of no end, with the trigger', 0, 1, @untold, trigger => 1);
my @told = (command => pools('Told', 'synchronization.afterCompletion('), seed => $seed);
pools_are($server, 'Hibernate\'s generator', 0, 0, @told, trigger => $_) for 0, 1;

$server->stop('fast');
no_recipe_left();
