# The Java of doc/clients.md, as far as it needs no more than PostgreSQL's driver: what it brings back are the ids in the table.
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

$server->stop('fast');
no_recipe_left();
