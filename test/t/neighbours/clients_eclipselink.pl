# EclipseLink with a QuerySequence, as doc/clients.md says: the ids of the entities are those in the
# table. They are requested before the transaction, unless that begins early, as the page says. With
# IDENTITY, inserts fail.
#
# EclipseLink is Debian 14's: test/clients makes a system that contains it.
# Not in the default run: it needs foreign software.

use strict;
use warnings;

use ClientsTest;
use IPC::Run;
use Neighbours;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my ($java, $compiler) = map { program_in($_) } 'java', 'javac';
my $jars = join ':', grep { -e } map { "/usr/share/java/$_.jar" } 'eclipselink', 'eclipselink-jpa-2.1-spec', 'jpa-2.1-spec', 'jta', 'geronimo-jta-1.2-spec', 'postgresql';
left_out_unless($java && $compiler && $jars =~ /eclipselink/ && $jars =~ /postgresql/, 'EclipseLink', 'test/clients has it');

my $server = client_server();
my $folder = PostgreSQL::Test::Utils::tempdir();
write_program("$folder/META-INF/persistence.xml", <<'XML');
<persistence version="2.1" xmlns="http://xmlns.jcp.org/xml/ns/persistence">
  <persistence-unit name="page" transaction-type="RESOURCE_LOCAL">
    <provider>org.eclipse.persistence.jpa.PersistenceProvider</provider>
    <class>Item</class><class>Other</class>
    <properties><property name="eclipselink.session.customizer" value="Ids"/><property name="eclipselink.logging.level" value="OFF"/></properties>
  </persistence-unit>
</persistence>
XML
write_program("$folder/Ids.java", <<'JAVA');
import org.eclipse.persistence.config.SessionCustomizer;
import org.eclipse.persistence.queries.ValueReadQuery;
import org.eclipse.persistence.sequencing.QuerySequence;
import org.eclipse.persistence.sessions.Session;
public class Ids implements SessionCustomizer {
  @Override public void customize(Session session) {
    QuerySequence ids = new QuerySequence("ids", 1);
    ids.setSelectQuery(new ValueReadQuery("SELECT snowflake_nextval()"));
    session.getLogin().addSequence(ids);
  }
}
JAVA
my $entity = <<'JAVA';
import javax.persistence.*;
@Entity @Table(name = "item") public class Item { @Id @GeneratedValue(generator = "ids") Long id; String name; }
JAVA
write_program("$folder/Item.java", $entity);
write_program("$folder/Other.java", $entity =~ s/class Item/class Other/r =~ s/generator = "\w+"/strategy = GenerationType.IDENTITY/r);
my ($begin_early) = slurp_file('doc/clients.md') =~ /`(em\.unwrap\(UnitOfWork\.class\)\.\w+\(\))`/ or die "no early transaction\n";
write_program("$folder/Page.java", <<'JAVA' =~ s/BEGIN_EARLY/$begin_early/r);
import java.util.*;
import javax.persistence.*;
import org.eclipse.persistence.sessions.UnitOfWork;
public class Page {
  public static void main(String[] arguments) throws InterruptedException {
    Map<String, String> properties = new HashMap<>();
    properties.put("javax.persistence.jdbc.url", "jdbc:postgresql://" + System.getenv("PGHOST") + ":" + System.getenv("PGPORT") + "/" + System.getenv("PGDATABASE"));
    properties.put("javax.persistence.jdbc.user", System.getenv("PGUSER"));
    EntityManager em = Persistence.createEntityManagerFactory("page", properties).createEntityManager();
    List<Long> ids = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      em.getTransaction().begin();
      if (i >= 50) BEGIN_EARLY;
      Item item = new Item();
      item.name = "item " + i;
      em.persist(item);
      Thread.sleep(5);
      em.getTransaction().commit();
      ids.add(item.id);
    }
    String state = "";
    try {
      em.getTransaction().begin();
      Other other = new Other();
      other.name = "other";
      em.persist(other);
      em.getTransaction().commit();
    } catch (RuntimeException error) {
      for (Throwable cause = error; cause != null; cause = cause.getCause())
        if (cause instanceof java.sql.SQLException) state = ((java.sql.SQLException) cause).getSQLState();
    }
    System.out.println("[" + ids + ", \"" + state + "\"]");
  }
}
JAVA
# EclipseLink reads classes itself, and knows no newer form of them.
my ($out, $well) = ('');
$well = IPC::Run::run([ $compiler, '--release', '11', '-cp', $jars, map { "$folder/$_.java" } qw(Ids Item Other Page) ], '>', \$out, '2>&1');
ok($well, 'it compiles') or diag($out);
$server->safe_psql('postgres', 'ALTER TABLE item ADD began timestamptz DEFAULT now()');
my $seen = run_program($java, '-cp', "$folder:$jars", 'Page');
are_the_tables($server, $seen->[0], 'EclipseLink');
is($seen->[1], '55000', '... IDENTITY fails');
is($server->safe_psql('postgres', q{SELECT count(*), min(substr(name, 6)::int), max(substr(name, 6)::int) FROM item WHERE snowflake_timestamp(id) < began - interval '2 ms'}),
	'50|0|49', '... ids are of the transaction that began early');

$server->stop('fast');
done_testing();
