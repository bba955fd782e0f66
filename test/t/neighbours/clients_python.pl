# The Python of doc/clients.md: each block is run as it stands there, what it brings back are the ids in the table, and the number of
# statements is what the page says.
#
# The packages are Debian's; test/run unpacks them.

use strict;
use warnings;

use ClientsTest;
use IPC::Run;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

# The page itself: who runs what.
my @others = grep { !$_->{not_run} && !($_->{test} && -e "test/$_->{test}.pl") } recipes();
is(join(', ', map { $_->{heading} } @others), '', 'each block of the page is run by a test that is there, or says why not');

# Debian's packages are of Debian's Python.
my $python = program_in('python3', '/usr/bin');
$ENV{PYTHONPATH} = join ':', grep { length } "$ENV{SNOWFLAKE_NEIGHBOURS}/usr/lib/python3/dist-packages", $ENV{PYTHONPATH} // '' if $ENV{SNOWFLAKE_NEIGHBOURS};
sub version_of
{
	my ($module) = @_;
	my $out;
	return undef unless $python;
	IPC::Run::run([ $python, '-c', "import $module; print($module.__version__)" ], '>', \$out, '2>', '/dev/null') or return undef;
	return $out =~ /^(\d[\d.]*)/ ? $1 : undef;
}
my %version = map { $_ => version_of($_) } qw(psycopg psycopg2 sqlalchemy django);
note("$_ " . ($version{$_} // '-')) for sort keys %version;

my $server = client_server();
my $folder = PostgreSQL::Test::Utils::tempdir();

# Runs the block, and prints what the expression then is.
sub python
{
	my ($name, $code, $result) = @_;
	return run_program($python, write_program("$folder/page_$name.py", $code, "import json\nprint(json.dumps($result))\n"));
}

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
}

### SQLAlchemy

if (($version{sqlalchemy} // '') =~ /^2\./ && $version{psycopg2})
{
	my ($code) = recipe('SQLAlchemy');
	# What a committed object's id is, without asking the server.
	my $known = '[__import__("sqlalchemy").inspect(item).identity[0] for item in items]';
	for my $driver (grep { $version{$_} } 'psycopg2', 'psycopg')
	{
		my $by_driver = $code =~ s/postgresql\+psycopg2/postgresql+$driver/r;
		fresh_items($server);
		my ($seen, $drawn);
		my $inserts = sent($server, 'INSERT', sub {
			$drawn = sent($server, 'SELECT snowflake_nextvals', sub { $seen = python("sqlalchemy_$driver", $by_driver, $known) });
		});
		are_the_tables($server, $seen, "SQLAlchemy with $driver");
		is(scalar @{ $seen // [] }, 100, '... a hundred');
		is("$drawn $inserts", '2 1', '... by two SELECT and one INSERT');

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
	is_deeply(python('fork', $code . <<'PYTHON', 'left'), [ 49, 0 ], 'a pool is handed on to no forked process');
with Session(engine) as session:
    session.add(Item(name="another"))
    session.commit()
read, write = os.pipe()
if os.fork() == 0:
    os.write(write, str(len(ids)).encode())
    os._exit(0)
left = [len(ids), int(os.read(read, 10))]
PYTHON
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
}
else
{
	left_out('Django', $version{django} ? 'no psycopg2' : 'no django');
}

$server->stop('fast');
no_recipe_left();
