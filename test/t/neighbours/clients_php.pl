# Runs each block of PHP in doc/clients.md as it is on the page, and checks that the ids that it
# returns are the ids in the table. Then it does the same with ids of the type snowflake_id, as in
# the page's table. It also shows what the page warns of: lastInsertId(), and Doctrine's own
# strategies.
#
# The libraries are Debian 14's: test/clients makes a system that contains them.
# Not in the default run: it needs foreign software.

use strict;
use warnings;

use ClientsTest;
use IPC::Run;
use Neighbours;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my $php = program_in('php', '/usr/bin');
my $libraries = '/usr/share/php';
my $there = $php && -d "$libraries/Doctrine/ORM" && -d "$libraries/Illuminate/Database" && IPC::Run::run([ $php, '-r', 'exit(extension_loaded("pdo_pgsql") ? 0 : 1);' ]);
left_out_unless($there, 'PHP with Doctrine and Eloquent', 'test/clients has them');

my $server = client_server();
my $folder = PostgreSQL::Test::Utils::tempdir();
my ($pdo) = recipe('PDO');
my ($entity, $persist, $dbal) = recipe('Doctrine');
my ($model, $migration) = recipe('Eloquent');

# Beginnings of programs: with a connection, an entity manager, a connection of Eloquent.
my $begin = <<'PHP';
<?php
error_reporting(E_ALL & ~E_DEPRECATED & ~E_USER_DEPRECATED);
function state(callable $code): string
{
    try { $code(); } catch (Throwable $e) {
        while ($e->getPrevious() && !($e instanceof PDOException)) $e = $e->getPrevious();
        return method_exists($e, 'getSQLState') ? $e->getSQLState() : (string) $e->getCode();
    }
    return 'yes';
}
$pdo = new PDO(sprintf('pgsql:host=%s;port=%d;dbname=%s', getenv('PGHOST'), getenv('PGPORT'), getenv('PGDATABASE')), getenv('PGUSER'));
PHP
my $doctrine = <<'PHP';
require '/usr/share/php/Doctrine/ORM/autoload.php';
$connection = Doctrine\DBAL\DriverManager::getConnection(['driver' => 'pdo_pgsql', 'host' => getenv('PGHOST'), 'port' => (int) getenv('PGPORT'), 'dbname' => getenv('PGDATABASE'), 'user' => getenv('PGUSER')]);
$config = new Doctrine\ORM\Configuration();
$config->setMetadataDriverImpl(new Doctrine\ORM\Mapping\Driver\AttributeDriver([]));
$config->enableNativeLazyObjects(true);
$em = new Doctrine\ORM\EntityManager($connection, $config);
PHP
my $eloquent = <<'PHP';
require '/usr/share/php/Illuminate/Database/autoload.php';
use Illuminate\Database\Capsule\Manager as DB;
$capsule = new DB();
$capsule->addConnection(['driver' => 'pgsql', 'host' => getenv('PGHOST'), 'port' => getenv('PGPORT'), 'database' => getenv('PGDATABASE'), 'username' => getenv('PGUSER'), 'charset' => 'utf8']);
$capsule->setAsGlobal();
$capsule->bootEloquent();
class Schema { static function create(...$arguments) { DB::schema()->create(...$arguments); } }
PHP
# PHP wants imports at the beginning of a file.
sub split_imports { my ($code) = @_; my @imports = $code =~ /^(use [^(]*?;\n)/mg; return (join('', @imports), $code =~ s/^use [^(]*?;\n//mgr); }
sub program
{
	my ($name, @parts) = @_;
	my ($imports, $code) = split_imports(join "\n", @parts);
	return write_program("$folder/$name.php", $begin =~ s/<\?php\n/<?php\n$imports/r, $code);
}

# ---------------------------------------------------------------------------------------------------------------------
# The recipes
# ---------------------------------------------------------------------------------------------------------------------

my $seen = run_program($php, program('pdo', $pdo, <<'PHP'));
$error = state(fn () => $pdo->exec("DO $$ BEGIN RAISE EXCEPTION 'no id' USING ERRCODE = 'SF001'; END $$"));
$last = state(fn () => $pdo->exec("INSERT INTO item (name) VALUES ('stored')") && $pdo->lastInsertId());
$stored = $pdo->query("SELECT id FROM item WHERE name = 'stored'")->fetchColumn();
$pdo->exec("CREATE TABLE audit (number serial); CREATE FUNCTION audit() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO audit DEFAULT VALUES; RETURN NULL; END';
  CREATE TRIGGER audit AFTER INSERT ON item FOR EACH ROW EXECUTE FUNCTION audit(); INSERT INTO item (name) VALUES ('audited')");
$number = $pdo->lastInsertId();
$audited = $pdo->query("DELETE FROM item WHERE name = 'audited' RETURNING id")->fetchColumn();
$pdo->exec('DROP TRIGGER audit ON item');
echo json_encode([[$id, $stored], $ids, $error, $last, $number, gettype($id)]), "\n";
PHP
are_the_tables($server, $seen->[0], 'PDO');
are_drawn($server, $seen->[1], 100, 'PDO');
is($seen->[2], 'SF001', 'PDO: the SQLSTATE of an error');
is($seen->[3], '55000', 'PDO: lastInsertId() fails, and the row is stored');
is($seen->[4], '1', '... or returns the number of an audit table');
is($seen->[5], 'integer', '... an integer');

fresh_items($server);
my $selects;
my $inserts = sent($server, 'INSERT INTO item', sub {
	$selects = sent($server, 'SELECT snowflake_nextval', sub {
		$seen = run_program($php, program('doctrine', $doctrine, $entity, $persist, $dbal, <<'PHP'));
$ids = [$item->id];
foreach (['second', 'third'] as $name) { $next = new Item(); $next->name = $name; $em->persist($next); $more[] = $next; }
$em->flush();
foreach ($more as $next) $ids[] = $next->id;
$ids[] = $id;
$em->clear();
$found = $em->find(Item::class, $ids[0])->name;
$sql = (new Doctrine\ORM\Tools\SchemaTool($em))->getCreateSchemaSql([$em->getClassMetadata(Item::class)])[0];
$error = state(fn () => $connection->executeStatement("DO \$\$ BEGIN RAISE EXCEPTION 'no id' USING ERRCODE = 'SF001'; END \$\$"));
echo json_encode([$ids, $found, $sql, $error]), "\n";
PHP
	});
});
are_the_tables($server, $seen->[0], 'Doctrine');
is($selects, 3, '... one SELECT for each object');
is($inserts, 4, '... one INSERT for each row');
is($seen->[1], 'first', '... an object is found');
like($seen->[2], qr/\(id BIGINT DEFAULT snowflake_nextval\(\) NOT NULL/i, '... its schema has the default');
is($seen->[3], 'SF001', '... the SQLSTATE of an error');
my ($log) = slurp_file($server->logfile) =~ /(statement: BEGIN[^\n]*\n(?:[^\n]*\n){1,8}?[^\n]*INSERT INTO item[^\n]*)/i;
like($log // '', qr/snowflake_nextval/, '... the page requests an id in the transaction that inserts the row');
for my $strategy ([ IDENTITY => '55000' ], [ AUTO => '55000' ], [ SEQUENCE => '42P01' ])
{
	my ($name, $state) = @$strategy;
	my $other = $entity =~ s/strategy: 'CUSTOM'/strategy: '$name'/r =~ s/^.*CustomIdGenerator.*\n//mr;
	$seen = run_program($php, program("doctrine_$name", $doctrine, $other, <<'PHP'));
$state = state(function () use ($em) { $item = new Item(); $item->name = 'other'; $em->persist($item); $em->flush(); });
echo json_encode([$state]), "\n";
PHP
	is($seen->[0], $state, "Doctrine: $name fails");
}

$inserts = sent($server, 'insert into "articles"', sub {
	$seen = run_program($php, program('eloquent', $eloquent, $migration, $model, <<'PHP'));
Article::unguard();
$one = Article::create(['name' => 'first']);
$two = Article::create(['name' => 'second', 'parent_id' => $one->id]);
Article::insert([['name' => 'third'], ['name' => 'fourth']]);
$ids = Article::orderBy('id')->pluck('id')->all();
class Plain extends Illuminate\Database\Eloquent\Model { protected $table = 'articles'; }
$plain = json_encode(Plain::find($one->id));
$error = state(fn () => DB::connection()->statement("DO $$ BEGIN RAISE EXCEPTION 'no id' USING ERRCODE = 'SF001'; END $$"));
echo json_encode(['ids' => $ids, 'one' => $one->id, 'read' => gettype($two->fresh()->parent_id), 'json' => json_decode(json_encode($two->fresh()), true, 512, JSON_BIGINT_AS_STRING),
  'found' => Article::find($one->id)->name, 'parent' => $two->fresh()->parent_id, 'plain' => $plain, 'raw' => json_encode(Article::find($two->id)), 'error' => $error]), "\n";
PHP
});
are_the_tables($server, $seen->{ids}, 'Eloquent', 'articles');
is($inserts, 3, '... three INSERT');
is($seen->{found}, 'first', '... a row is found by the id that create() returned');
is($seen->{parent}, $seen->{one}, '... and by what refers to it');
like($seen->{raw}, qr/"id":"\d+".*"parent_id":"\d+"|"parent_id":"\d+".*"id":"\d+"/, '... strings in JSON');
like($seen->{plain}, qr/"id":\d+/, '... numbers without $keyType');
is($seen->{error}, 'SF001', '... the SQLSTATE of an error');

# A migration with an ordinary key, which is adopted.
{
	local $ENV{PGOPTIONS} = '-c snowflake_convert.adopt_keys=on';
	$seen = run_program($php, program('adopted', $eloquent, <<'PHP'));
Schema::create('adopted', function ($table) { $table->id(); $table->text('name'); });
class Adopted extends Illuminate\Database\Eloquent\Model { protected $table = 'adopted'; protected $keyType = 'string'; public $timestamps = false; protected $guarded = []; }
$one = Adopted::create(['name' => 'first']);
echo json_encode(['ids' => [$one->id]]), "\n";
PHP
	are_the_tables($server, $seen->{ids}, 'Eloquent with adopted keys', 'adopted');
}

# ---------------------------------------------------------------------------------------------------------------------
# The type snowflake_id
# ---------------------------------------------------------------------------------------------------------------------

my $attempts = <<'PHP';
$ids = []; $reads = [];
function attempt(callable $code, bool $look = true): string
{
    return state(function () use ($code, $look) {
        global $ids, $reads;
        foreach ($code() as $id) { $ids[] = (string) $id; if ($look) $reads[['integer' => 'int', 'string' => 'string'][gettype($id)]] = true; }
    });
}
$known = getenv('CLIENTS_KNOWN_ID');
function finds(callable $code): array
{
    global $known;
    foreach (['int' => (int) $known, 'string' => $known] as $type => $id) { try { $found = $code($id); } catch (Throwable $e) { $found = false; } $finds[$type] = $found ? 'yes' : 'no'; }
    return $finds;
}
PHP
my $print = q{echo json_encode(['one' => $one, 'many' => $many, 'given' => $given, 'finds' => $finds, 'reads' => array_keys($reads), 'ids' => $ids]), "\n";};
my %forms = (
	PDO => [ 'item', <<'PHP' ],
$insert = $pdo->prepare('INSERT INTO item (name) VALUES (?) RETURNING id');
$one = attempt(function () use ($insert) { $insert->execute(['first']); return [$insert->fetchColumn()]; });
$many = attempt(fn () => $pdo->query("INSERT INTO item (name) VALUES ('second'), ('third') RETURNING id")->fetchAll(PDO::FETCH_COLUMN));
$given = attempt(function () use ($pdo) { $id = $pdo->query('SELECT snowflake_nextval()')->fetchColumn(); $pdo->prepare('INSERT INTO item VALUES (?, ?)')->execute([$id, 'given']); return [$id]; }, false);
$finds = finds(function ($id) use ($pdo) { $q = $pdo->prepare('SELECT name FROM item WHERE id = ?'); $q->execute([$id]); return $q->fetchColumn() === 'known'; });
PHP
	Doctrine => [ 'item', $doctrine, $entity, <<'PHP' ],
function add(array $names): array
{
    global $connection, $config;
    $em = new Doctrine\ORM\EntityManager($connection, $config);
    $items = array_map(function ($name) use ($em) { $item = new Item(); $item->name = $name; $em->persist($item); return $item; }, $names);
    $em->flush();
    $em->clear();
    return array_map(fn ($item) => $em->find(Item::class, $item->id)->id, $items);
}
$one = attempt(fn () => add(['first']));
$many = attempt(fn () => add(['second', 'third']));
$given = attempt(function () use ($connection) { $id = $connection->fetchOne('SELECT snowflake_nextval()'); $connection->insert('item', ['id' => $id, 'name' => 'given']); return [$id]; }, false);
$finds = finds(function ($id) use ($em) { $em->clear(); $found = $em->find(Item::class, $id); if ($found) $GLOBALS['reads'][['integer' => 'int', 'string' => 'string'][gettype($found->id)]] = true; return $found?->name === 'known'; });
PHP
	Eloquent => [ 'articles', $eloquent, $model, <<'PHP' ],
Article::unguard();
$one = attempt(fn () => [Article::create(['name' => 'first'])->id]);
$many = attempt(function () { Article::insert([['name' => 'second'], ['name' => 'third']]); return Article::whereIn('name', ['second', 'third'])->pluck('id'); });
$given = attempt(function () { $id = DB::scalar('SELECT snowflake_nextval()'); return [Article::create(['id' => $id, 'name' => 'given'])->id]; }, false);
$finds = finds(fn ($id) => Article::find($id)?->name === 'known');
PHP
);
for my $client (sort keys %forms)
{
	my ($table, @parts) = @{ $forms{$client} };
	fresh_items($server) if $table eq 'item';
	each_form($server, $table, sub {
		my ($form) = @_;
		is_as_told($server, $client, $form, run_program($php, program("forms_$client", @parts[ 0 .. $#parts - 1 ], $attempts, $parts[-1], $print)), $table);
	});
}

$server->stop('fast');
no_recipe_left();
