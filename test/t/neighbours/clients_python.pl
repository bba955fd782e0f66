# Runs each block of Python in doc/clients.md as it is on the page. The ids that it returns are the
# ids in the table, and the number of statements is the number on the page. Then it does the same
# with ids of the type snowflake_id, as in the page's table.
#
# The packages are Debian's; test/run unpacks them.
# Not in the default run: it needs foreign software, and drivers run the page's code for minutes.

use strict;
use warnings;

use ClientsTest;
use IPC::Run;
use PoolsTest;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

# The page itself names the test of each block.
my @others = grep { !$_->{not_run} && !($_->{test} && -e "test/$_->{test}.pl") } recipes();
is(join(', ', map { $_->{heading} } @others), '', 'each block of the page is run by a test that is there, or says why not');
my $tests = join '', map { slurp_file($_) } glob 'test/t/neighbours/clients_*.pl';
my @clients = clients_told();
cmp_ok(scalar @clients, '>', 10, 'clients in the table of the type');
is(join(', ', grep { $tests !~ /'\Q$_\E'/ } @clients), '', '... each is named by a test');

my ($python, %version) = python_of_debian(qw(psycopg psycopg2 sqlalchemy django));

my $server = client_server();
my $folder = PostgreSQL::Test::Utils::tempdir();

# Runs the block, and prints the value of the expression.
sub python
{
	my ($name, $code, $result) = @_;
	return run_program($python, write_program("$folder/page_$name.py", $code, "import json\nprint(json.dumps($result))\n"));
}

# Code that the programs share that handle ids of the type. They print what is_as_told() compares
# with the page.
write_program("$folder/forms.py", <<'PYTHON');
import json
import os

known = int(os.environ["CLIENTS_KNOWN_ID"])


def sqlstate(error):
    while error:
        for code in (getattr(error, "sqlstate", None), getattr(error, "pgcode", None)):
            if code:
                return code
        error = getattr(error, "orig", None) or error.__cause__


def report(one, many, given, find):
    seen = {"ids": [], "finds": {}}
    reads = set()
    for name, insert in (("one", one), ("many", many), ("given", given)):
        try:
            ids = insert()
        except Exception as error:
            seen[name] = sqlstate(error)
            if not seen[name]:
                raise
            continue
        seen[name] = "yes"
        seen["ids"] += [str(id) for id in ids]
        if name != "given":
            reads.update(type(id).__name__ for id in ids)
    for kind in (int, str):
        try:
            id = find(kind(known))
        except Exception as error:
            seen["finds"][kind.__name__] = sqlstate(error)
            continue
        seen["finds"][kind.__name__] = "yes" if int(id) == known else "no"
        reads.add(type(id).__name__)
    seen["reads"] = list(reads)
    print(json.dumps(seen))
PYTHON
$ENV{PYTHONPATH} = join ':', $folder, grep { length } $ENV{PYTHONPATH} // '';

# Runs a program that prints its results.
sub form_of { my ($name, @code) = @_; return run_program($python, write_program("$folder/form_$name.py", @code)); }

### Drivers

for my $driver ([ 'psycopg 3', 'psycopg' ], [ 'psycopg2', 'psycopg2' ])
{
	my ($heading, $module) = @$driver;
	if (!$version{$module}) { left_out($heading, "no $module"); next; }
	my ($code) = recipe($heading);
	fresh_items($server);
	my $seen = python($module, $code, '[id, ids]') or next;
	if ($module eq 'psycopg')
	{
		are_the_tables($server, [ $seen->[0] ], $heading);
		are_drawn($server, $seen->[1], 100, $heading);
	}
	else
	{
		are_the_tables($server, [ $seen->[0], @{ $seen->[1] } ], $heading);
	}
	is(python("sqlstate_$module", <<"PYTHON", 'sqlstate'), 'SF001', '... and the SQLSTATE of an error');
import $module
try:
    $module.connect("").cursor().execute("DO \$\$BEGIN RAISE EXCEPTION 'no id' USING ERRCODE = 'SF001'; END\$\$")
except $module.Error as error:
    sqlstate = getattr(error, "sqlstate", None) or error.pgcode
PYTHON

	my $forms = $code . ($module eq 'psycopg' ? <<'PYTHON' : <<'PYTHON');
from forms import report

connection = psycopg.connect(autocommit=True)


def many():
    cursor = connection.cursor()
    cursor.executemany("INSERT INTO item (name) VALUES (%s) RETURNING id", [["second"], ["third"]], returning=True)
    return [cursor.fetchone()[0], cursor.nextset() and cursor.fetchone()[0]]


report(
    one=lambda: [id],
    many=many,
    given=lambda: [connection.execute("INSERT INTO item VALUES (%s, %s) RETURNING id", [ids[0], "given"]).fetchone()[0]],
    find=lambda id: connection.execute("SELECT id FROM item WHERE id = %s AND name = 'known'", [id]).fetchone()[0],
)
PYTHON
from forms import report

one = id
connection = psycopg2.connect("")
connection.autocommit = True


def fetch(statement, parameters):
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return cursor.fetchone()[0]


report(
    one=lambda: [one],
    many=lambda: ids,
    given=lambda: [fetch("INSERT INTO item VALUES (%s, %s) RETURNING id", [fetch("SELECT snowflake_nextval()", []), "given"])],
    find=lambda id: fetch("SELECT id FROM item WHERE id = %s AND name = 'known'", [id]),
)
PYTHON
	each_form($server, 'item', sub {
		my ($form) = @_;
		is_as_told($server, $heading, $form, form_of($module, $forms));
		return unless $form eq 'column';
		my $connect = "import $module\nconnection = $module.connect(\"\")\n";
		my $fetch = 'cursor = connection.cursor()' . "\n" . q{cursor.execute("SELECT id FROM item WHERE name = 'known' UNION ALL SELECT NULL ORDER BY 1")} . "\n";
		my $types = '[type(id).__name__ for id, in cursor.fetchall()]';
		is(join(' ', @{ python("typed_$module", $connect . $fetch, $types) }), 'str NoneType', '... unless told otherwise');
		my $oid = "cursor = connection.cursor()\ncursor.execute(\"SELECT 'snowflake_id'::regtype::oid\")\noid, = cursor.fetchone()\n";
		my $remedy = join "\n", $module eq 'psycopg' ? ('from psycopg.types import TypeInfo', 'from psycopg.types.numeric import IntLoader') :
		  'from psycopg2.extensions import new_type, register_type', remedy_of($heading), '';
		is(join(' ', @{ python("remedy_$module", $connect . $oid . $remedy . $fetch, $types) }), 'int NoneType', '... or by what the page says');
		my $array = "cursor = connection.cursor()\ncursor.execute(\"SELECT array_agg(id), array_agg(id)::bigint[] FROM item\")\narrays = cursor.fetchone()\n";
		is(join(' ', @{ python("array_$module", $connect . $array, '[type(array).__name__ for array in arrays]') }), 'str list', '... arrays are text, unless cast');
	});
}

# A view that casts cannot have its own default, because the default would be written.
$server->safe_psql('postgres', q{CREATE SCHEMA api; CREATE VIEW api.item AS SELECT id::snowflake_id AS id, name FROM item;
	ALTER VIEW api.item ALTER id SET DEFAULT snowflake_nextval()});
is((query_error($server, 'postgres', q{INSERT INTO api.item (name) VALUES ('first')}))[0], '0A000', 'a default of a view that casts is an error');
$server->safe_psql('postgres', q{ALTER VIEW api.item ALTER id DROP DEFAULT; INSERT INTO api.item (name) VALUES ('first'); DROP SCHEMA api CASCADE});

### SQLAlchemy

if (($version{sqlalchemy} // '') =~ /^2\./ && $version{psycopg2})
{
	my ($code) = recipe('SQLAlchemy');
	# A committed object's id, without a query to the server.
	my $known = '[__import__("sqlalchemy").inspect(item).identity[0] for item in items]';
	for my $driver (grep { $version{$_} } 'psycopg2', 'psycopg')
	{
		my $by_driver = $code =~ s/postgresql\+psycopg2/postgresql+$driver/r;
		fresh_items($server);
		my ($seen, $taken);
		my $inserts = sent($server, 'INSERT', sub {
			$taken = sent($server, 'SELECT snowflake_nextvals', sub { $seen = python("sqlalchemy_$driver", $by_driver, $known) });
		});
		are_the_tables($server, $seen, "SQLAlchemy with $driver");
		is(scalar @{ $seen // [] }, 100, '... a hundred');
		is("$taken $inserts", '2 1', '... by two SELECT and one INSERT');

		my $server_default = $by_driver =~ s/default=next_id, //r;
		isnt($server_default, $by_driver, 'without the default');
		fresh_items($server);
		$inserts = sent($server, 'INSERT', sub { $seen = python("server_default_$driver", $server_default, $known) });
		are_the_tables($server, $seen, '... server_default alone');
		is($inserts, 100, '... a hundred INSERT');
	}
	fresh_items($server);
	my $inserts = sent($server, 'INSERT', sub {
		are_the_tables($server, python('core', $code =~ s/^with .*//msr . <<'PYTHON', 'ids'), 'insert().returning()');
from sqlalchemy import insert
Item.__table__.c.id.default = None
with Session(engine) as session:
    ids = list(session.scalars(insert(Item.__table__).returning(Item.__table__.c.id), [{"name": f"item {i}"} for i in range(100)]))
    session.commit()
PYTHON
	});
	is($inserts, 1, '... by one INSERT');
	# Also with Core, which begins a transaction after it has computed the defaults.
	is_deeply(python('ends', $code . <<'PYTHON', 'left'), [ (49, 0) x 5, 0 ], 'a pool ends with its transaction, however that ends');
import gc

left = []


def insert(connection):
    connection.execute(Item.__table__.insert().values(name="another"))
    left.append(len(connection.info["ids"]))


def count(connection):
    left.append(len(connection.info.get("ids", [])))


with engine.connect() as connection:
    for end in (connection.commit, connection.rollback):
        insert(connection)
        end()
        count(connection)
with engine.connect() as connection:
    insert(connection)
with engine.connect() as connection:
    count(connection)
# The garbage collector returns it.
connection = engine.connect()
insert(connection)
connection = None
gc.collect()
with engine.connect() as connection:
    count(connection)
    insert(connection)
    try:
        connection.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))
    except Exception:
        pass
    connection.rollback()
    count(connection)
    connection.execute(text("SELECT"))
    count(connection)
PYTHON

	# Together with a reader: the recipe as on the page, and with a pool that lives as long as its
	# process.
	make_pool_outbox($server);
	my $seed = seed();
	my $writer = $code =~ s/^with .*//msr =~ s/^class Item.*?\n\n\n/class Item(Base):
    __tablename__ = "outbox"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, default=next_id, server_default=text("snowflake_nextval()"))
    payload: Mapped[str]


/msr . <<'PYTHON' . pool_driver();


class Writer:
    def __init__(self):
        self.session = Session(engine)

    def insert(self):
        self.session.add(Item(payload="x"))
        self.session.flush()

    def commit(self):
        self.session.commit()
        self.session.close()

    def rollback(self):
        self.session.rollback()
        self.session.close()


def refused(error):
    code = getattr(error, "orig", None)
    return code is not None and (getattr(code, "sqlstate", None) or getattr(code, "pgcode", None)) == "SF007"


PYTHON
	(my $longer = $writer) =~ s/if not connection\.invalidated:/if False:/ or die 'the page has no pool that ends';
	$longer =~ s/if record:/if False:/ or die 'the page has no pool that ends with a lost connection';
	my $pools = sub { my ($name, $program) = @_; return (command => [ $python, write_program("$folder/$name.py", $program) ], seed => $seed) };
	$server->safe_psql('postgres', 'ALTER SYSTEM SET log_statement = none; SELECT pg_reload_conf()');
	my @longer = $pools->('pool_longer', $longer);
	pools_are($server, 'SQLAlchemy with a pool over transactions', 1, 0, @longer);
	pools_are($server, 'SQLAlchemy with a pool over transactions, with the trigger', 0, 1, @longer, trigger => 1);
	pools_are($server, 'SQLAlchemy as on the page', 0, 0, $pools->('pool_ends', $writer), trigger => $_) for 0, 1;
	$server->safe_psql('postgres', 'ALTER SYSTEM RESET log_statement; SELECT pg_reload_conf()');

	my $forms = $code =~ s/^with .*//msr =~ s/default=next_id, //r . <<'PYTHON';
from forms import report
from sqlalchemy import insert


def added(**values):
    with Session(engine) as session:
        item = Item(**values)
        session.add(item)
        session.commit()
        return [item.id]


def many():
    with Session(engine) as session:
        ids = session.scalars(insert(Item).returning(Item.id), [{"name": "second"}, {"name": "third"}]).all()
        session.commit()
        return ids


def given():
    with Session(engine) as session:
        id = session.scalar(text("SELECT snowflake_nextval()"))
    return added(id=id, name="given")


def find(id):
    with Session(engine) as session:
        return session.get(Item, id).id


report(one=lambda: added(name="first"), many=many, given=given, find=find)
PYTHON
	each_form($server, 'item', sub {
		my ($form) = @_;
		is_as_told($server, 'SQLAlchemy', $form, form_of('sqlalchemy', $forms));
		return if $form eq 'cast';
		$server->safe_psql('postgres', 'TRUNCATE public.item');
		are_the_tables($server, python("sqlalchemy_$form", $code, $known), "SQLAlchemy, $form: the page's block");
		return unless $form eq 'column';
		my $typed = join "\n", 'class SnowflakeId(TypeDecorator):', '    impl, cache_ok = BigInteger, True', (map { "    $_" } grep { /^def / } remedy_of('SQLAlchemy')), '', '';
		my $remedy = $forms =~ s/^(?=class Base)/from sqlalchemy import TypeDecorator\n$typed/mr =~ s/mapped_column\(\s*BigInteger/mapped_column(SnowflakeId/r;
		$server->safe_psql('postgres', q{TRUNCATE public.item; INSERT INTO item VALUES (snowflake_currval(), 'known')} =~ s/snowflake_currval\(\)/$ENV{CLIENTS_KNOWN_ID}/r);
		is(join(' ', @{ form_of('sqlalchemy_remedy', $remedy)->{reads} }), 'int', '... by what the page says');
	});
}
else
{
	left_out('SQLAlchemy', $version{sqlalchemy} ? "it is $version{sqlalchemy} here, and the recipe is for 2" : 'no sqlalchemy');
}

### Django

if ($version{django} && $version{psycopg2})
{
	my ($migration, $models) = recipe('Django');
	my $of_field = $version{django} =~ /^[5-9]\.|^\d\d/;
	left_out('Django', "it is $version{django} here, and db_default is for 5.0") unless $of_field;
	my $apart = <<'PYTHON';
class Item(models.Model):
    id = models.BigAutoField(primary_key=True)
    name = models.TextField()


class Line(models.Model):
    item = models.ForeignKey(Item, models.CASCADE)
PYTHON
	write_program("$folder/django/shop/models.py", $of_field ? $models : "from django.db import models\n", $apart);
	write_program("$folder/django/shop/__init__.py", '');
	write_program("$folder/django/settings.py", <<'PYTHON');
import os
SECRET_KEY = "of a test"
INSTALLED_APPS = ["shop"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
DATABASES = {"default": {"ENGINE": "django.db.backends.postgresql", "NAME": os.environ["PGDATABASE"], "USER": os.environ["PGUSER"],
                         "HOST": os.environ["PGHOST"], "PORT": os.environ["PGPORT"]}}
PYTHON
	local $ENV{DJANGO_SETTINGS_MODULE} = 'settings';
	local $ENV{PYTHONPATH} = "$folder/django:" . ($ENV{PYTHONPATH} // '');
	my $manage = sub {
		my $out;
		ok(IPC::Run::run([ $python, '-m', 'django', @_ ], '<', '/dev/null', '>', \$out, '2>&1'), "django $_[0]") or diag($out);
	};
	$manage->('makemigrations', 'shop');
	write_program("$folder/django/shop/migrations/0002_snowflake.py", $migration);
	$manage->('migrate');
	my $setup = "import django\ndjango.setup()\nfrom shop.models import *\n";
	my $seen;
	my $inserts = sent($server, 'INSERT', sub {
		$seen = python('big_auto_field', "${setup}items = Item.objects.bulk_create([Item(name=str(i)) for i in range(100)])\n", '[item.pk for item in items]');
	});
	are_the_tables($server, $seen, "Django $version{django}, a BigAutoField that was converted", 'shop_item');
	is($inserts, 1, '... by one INSERT');
	if ($of_field)
	{
		$seen = python('db_default', "${setup}order = Order(name='first')\norder.save()\n", '[order.pk]');
		are_the_tables($server, $seen, '... and db_default', 'shop_order');
		$inserts = sent($server, 'INSERT', sub {
			$seen = python('bulk_create', "${setup}orders = Order.objects.bulk_create([Order(name='second'), Order(name='third')])\n",
				'[type(order.pk).__name__ for order in orders]');
		});
		is("@$seen $inserts", 'DatabaseDefault DatabaseDefault 1', '... whose bulk_create() does not say the ids');
		is(scalar table_ids($server, 'shop_order'), 3, '... that are in the table');
	}

	my @models = ([ 'Django, `BigAutoField`', 'Item', 'shop_item' ], $of_field ? [ 'Django, `db_default`', 'Order', 'shop_order' ] : ());
	for (@models)
	{
		my ($client, $model, $table) = @$_;
		my $forms = $setup . <<'PYTHON' =~ s/MODEL/$model/gr;
from django.db import connection
from forms import known, report


def one():
    row = MODEL(name="first")
    row.save()
    return [row.pk]


def many():
    MODEL.objects.bulk_create([MODEL(name="second"), MODEL(name="third")])
    return [row.pk for row in MODEL.objects.filter(name__in=["second", "third"])]


def given():
    with connection.cursor() as cursor:
        cursor.execute("SELECT snowflake_nextval()")
        id, = cursor.fetchone()
    MODEL(id=id, name="given").save(force_insert=True)
    return [id]


report(one=one, many=many, given=given, find=lambda id: MODEL.objects.get(pk=id, name="known").pk)
PYTHON
		each_form($server, $table, sub {
			my ($form) = @_;
			is_as_told($server, $client, $form, form_of($table, $forms), $table);
			return unless $form eq 'column';
			if ($model eq 'Item')
			{
				my $prefetch = $setup . <<'PYTHON';
from forms import known
Line.objects.all().delete()
Line.objects.create(item_id=known)
items = Item.objects.filter(pk=known)
try:
    found = [str(line.item_id) == str(known) for item in items.prefetch_related("line_set") for line in item.line_set.all()]
except KeyError:
    found = "KeyError"
PYTHON
				is(python('prefetch', $prefetch, 'found'), 'KeyError', '... a foreign key that is a bigint is not seen to be equal');
				$server->safe_psql('postgres', 'ALTER TABLE shop_line ALTER item_id TYPE snowflake_id');
				is_deeply(python('prefetch', $prefetch, 'found'), [ JSON::PP::true ], '... and one of the type is');
			}
			return unless $of_field;
			my ($method) = grep { /^def / } remedy_of($client);
			my ($class) = remedy_of($client);
			write_program("$folder/django/shop/models.py", ($models . $apart) =~ s/^(?=class Order)/class SnowflakeId(models.$class):\n    $method\n\n\n/mr
				  =~ s/id = models\.$class/id = SnowflakeId/r);
			$server->safe_psql('postgres', "DELETE FROM $table WHERE name <> 'known'");
			is(join(' ', @{ form_of('django_remedy', $forms)->{reads} }), 'int', '... by what the page says');
			write_program("$folder/django/shop/models.py", $models, $apart);
		});
	}
}
else
{
	left_out('Django', $version{django} ? 'no psycopg2' : 'no django');
}

$server->stop('fast');
no_recipe_left();
