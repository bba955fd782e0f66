# The migrations of Django and Alembic, as these tools write them, in databases in which
# snowflake_convert.adopt_keys is on: keys of 64 bits are adopted, keys of 32 bits keep their
# sequences. The test checks the catalogs, inserts of one row and of many rows, the commands that
# reset sequences, and which changes the tools find afterwards (doc/migrations.md).
#
# The packages are Debian's; test/run unpacks them.
# Not in the default run: it needs foreign software. It needs 40 s of processor time for frameworks
# that are started for each step of their migrations.

use strict;
use warnings;

use ClientsTest;
use MigrationsTest;
use PostgreSQL::Test::Utils;
use SnowflakeTest;
use Test::More;

my ($python, %version) = python_of_debian(qw(psycopg2 sqlalchemy django alembic));
$ENV{PYTHONDONTWRITEBYTECODE} = 1;

my $server = migration_server();
my $folder = PostgreSQL::Test::Utils::tempdir();

### Django

if ($version{django} && $version{psycopg2})
{
	my $site = "$folder/django";
	local $ENV{PYTHONPATH} = "$site:" . ($ENV{PYTHONPATH} // '');
	local $ENV{DJANGO_SETTINGS_MODULE} = 'settings';
	write_program("$site/shop/__init__.py", '');
	write_program("$site/settings.py", <<'PYTHON');
import os
SECRET_KEY = "x"
USE_TZ = True
INSTALLED_APPS = ["django.contrib.contenttypes", "django.contrib.auth", "django.contrib.sessions", "shop"]
DEFAULT_AUTO_FIELD = "django.db.models." + os.environ["FIELD"]
DATABASES = {"default": {"ENGINE": "django.db.backends.postgresql", "NAME": os.environ["PGDATABASE"], "USER": os.environ["PGUSER"],
    "HOST": os.environ["PGHOST"], "PORT": os.environ["PGPORT"]}}
PYTHON
	write_program("$site/shop/models.py", <<'PYTHON');
from django.db import models


class Author(models.Model):
    name = models.TextField()
    mentor = models.ForeignKey("self", null=True, on_delete=models.CASCADE)


class Tag(models.Model):
    name = models.TextField()


class Book(models.Model):
    title = models.TextField()
    author = models.ForeignKey(Author, on_delete=models.CASCADE)
    tags = models.ManyToManyField(Tag)


class Novel(Book):
    pages = models.IntegerField()
PYTHON
	my $use = write_program("$site/use.py", <<'PYTHON');
import json
import django
django.setup()
from django.contrib.auth.models import Permission, User
from shop.models import Author, Book, Novel, Tag

a = Author.objects.create(name="a")
Author.objects.create(name="b", mentor=a)
books = Book.objects.bulk_create([Book(title=str(i), author=a) for i in range(100)])
tag = Tag.objects.create(name="t")
for book in Book.objects.all()[:3]:
    book.tags.add(tag)
Novel.objects.create(title="n", author=a, pages=3)
a.name = "z"
a.save()
user = User.objects.create_user("u")
user.user_permissions.add(Permission.objects.first())
print(json.dumps({
    "found": Author.objects.get(pk=a.pk).name, "mentored": Author.objects.filter(mentor=a).count(), "books": a.book_set.count(),
    "tagged": Book.objects.filter(tags=tag).count(), "bulk": len({book.pk for book in books}), "user": User.objects.get(pk=user.pk).username}))
PYTHON
	my $django = sub { my @command = @_; return command_runs("django $command[0]", $site, $python, '-m', 'django', @command) };
	my $databases = 0;
	my $fresh = sub {
		my ($field) = @_;
		$ENV{FIELD} = $field;
		unlink glob "$site/shop/migrations/*.py";
		return fresh_database(sprintf("django_%d", ++$databases));
	};
	my $works = sub {
		my ($what) = @_;
		is_deeply(run_program($python, $use), { found => 'z', mentored => 1, books => 101, tagged => 3, bulk => 100, user => 'u' }, "$what: models work");
	};
	my $resets = sub {
		my ($db) = @_;
		my $reset = $django->('sqlsequencereset', 'shop');
		like($reset, qr/pg_get_serial_sequence/, 'sqlsequencereset looks for sequences');
		$server->safe_psql($db, $reset);
		write_program("$site/shop.json", $django->('dumpdata', 'shop') =~ s/^[^\[]*//r);
		$django->('flush', '--no-input');
		like($django->('loaddata', "$site/shop.json"), qr/Installed \d{3,} object/, 'loaddata resets sequences');
		is($server->safe_psql($db, 'SELECT count(*) FROM shop_author'), '2', '... rows are there again');
		is(($django->('makemigrations', '--check', '--dry-run') =~ /^No changes/), 1, 'makemigrations finds nothing');
		like($django->('migrate'), qr/No migrations to apply/, 'migrate finds nothing');
	};

	# The default of new projects. Django's own applications have keys of 32 bits, and keep these
	# keys.
	my $db = $fresh->('BigAutoField');
	$django->('makemigrations', 'shop');
	$django->('migrate');
	$works->('Django');
	my %columns = map { /^(\S+) (.*)/ ? ($1 => $2) : () } columns_of($db);
	my @ours = grep { /^shop_.*\.id$/ } sort keys %columns;
	is("@ours", 'shop_author.id shop_book.id shop_book_tags.id shop_tag.id', 'keys of 64 bits') or diag(explain(\%columns));
	is($columns{$_}, 'bigint snowflake.snowflake_nextval()', "... $_ takes ids") for @ours;
	like($columns{"auth_user.id"}, qr/^integer (?:identity|nextval)/, '... a key of 32 bits keeps its sequence');
	is($columns{"$_"}, 'bigint ', "... $_ is wide enough") for 'shop_author.mentor_id', 'shop_book.author_id', 'shop_book_tags.book_id', 'shop_novel.book_ptr_id';
	$resets->($db);
	$works->('... afterwards');

	# Keys of 32 bits.
	$db = $fresh->('AutoField');
	$django->('makemigrations', 'shop');
	$django->('migrate');
	$works->('keys of 32 bits');
	is((grep { /^shop_.*(?:identity|nextval\()/ } columns_of($db)), 4, '... keep their sequences');
	is((grep { /^shop_.*snowflake/ } columns_of($db)), 0, '... all of them');
	$resets->($db);

	compares('Django: inspectdb', 'public', sub { return $django->('inspectdb') }, says => qr/class SnowflakeRegistry\(/);
	compares('Django: inspectdb', 'snowflake', sub { return $django->('inspectdb') }, says => qr/^(?!.*class Snowflake).*class Item\(/s);

	# The extension in a migration that runs first.
	my ($migration) = recipe('Migrations in Django');
	$db = $fresh->('BigAutoField');
	$server->safe_psql($db, 'DROP EXTENSION snowflake CASCADE');
	$django->('makemigrations', 'shop');
	write_program("$site/shop/migrations/0000_snowflake.py", $migration);
	$django->('migrate');
	$works->('the extension comes by a migration');
	is((grep { /^shop_author.id bigint snowflake_nextval/ } columns_of($db)), 1, '... keys take ids');
}
else { left_out('Migrations in Django', $version{django} ? 'no psycopg2' : 'no django'); }

### Alembic

if ($version{alembic} && $version{psycopg2})
{
	my $site = "$folder/alembic";
	write_program("$site/models.py", <<'PYTHON');
import os
import sqlalchemy
from sqlalchemy import Column, ForeignKey, MetaData, Table, Text

metadata = MetaData()
Key = getattr(sqlalchemy, os.environ["KEY"])
author = Table("author", metadata, Column("id", Key, primary_key=True), Column("name", Text), Column("mentor_id", Key, ForeignKey("author.id")))
tag = Table("tag", metadata, Column("id", Key, primary_key=True), Column("name", Text))
book = Table("book", metadata, Column("id", Key, primary_key=True), Column("title", Text), Column("author_id", Key, ForeignKey("author.id"), nullable=False))
book_tag = Table("book_tag", metadata, Column("book_id", Key, ForeignKey("book.id"), primary_key=True), Column("tag_id", Key, ForeignKey("tag.id"), primary_key=True))
PYTHON
	my $use = write_program("$site/use.py", <<'PYTHON');
import json
from models import *

with sqlalchemy.create_engine("postgresql+psycopg2://").begin() as c:
    a = c.execute(author.insert(), {"name": "a"}).inserted_primary_key[0]
    c.execute(author.insert(), {"name": "b", "mentor_id": a})
    t = c.execute(tag.insert(), {"name": "t"}).inserted_primary_key[0]
    c.execute(book.insert(), [{"title": str(i), "author_id": a} for i in range(100)])
    books = [row[0] for row in c.execute(sqlalchemy.select(book.c.id).where(book.c.author_id == a))]
    c.execute(book_tag.insert(), [{"book_id": b, "tag_id": t} for b in books])
    print(json.dumps([len(set(books)), c.execute(sqlalchemy.select(author.c.name).where(author.c.id == a)).scalar()]))
PYTHON
	local $ENV{PYTHONPATH} = "$site:" . ($ENV{PYTHONPATH} // '');
	my $alembic = sub { my @command = @_; return command_runs("alembic $command[0]", $site, $python, '-m', 'alembic.config', @command) };
	my $begin = sub {
		my ($key) = @_;
		$ENV{KEY} = $key;
		system('rm', '-rf', "$site/alembic", "$site/alembic.ini");
		$alembic->('init', 'alembic');
		my $ini = slurp_file("$site/alembic.ini") =~ s{^sqlalchemy.url = .*}{sqlalchemy.url = postgresql+psycopg2://}mr;
		write_program("$site/alembic.ini", $ini);
		my $env = slurp_file("$site/alembic/env.py") =~ s/^target_metadata = None/from models import metadata as target_metadata/mr;
		write_program("$site/alembic/env.py", $env);
	};
	my $migrates = sub {
		$alembic->('revision', '--autogenerate', '-m', 'initial');
		$alembic->('upgrade', 'head');
	};
	my $finds = sub { return $alembic->('revision', '--autogenerate', '-m', 'again') };
	my $written = sub { return join '', map { slurp_file($_) } glob "$site/alembic/versions/*_again.py" };

	my $db = fresh_database('alembic');
	$begin->('BigInteger');
	$migrates->();
	is_deeply(run_program($python, $use), [ 100, 'a' ], 'Alembic: tables work');
	are_adopted($db, 'Alembic', 3, 0);
	$finds->();
	unlike($written->(), qr/op\.\w/, '... autogenerate finds nothing');
	$alembic->('downgrade', 'base');

	# Keys of 32 bits.
	$db = fresh_database('alembic_integer');
	$begin->('Integer');
	$migrates->();
	is_deeply(run_program($python, $use), [ 100, 'a' ], 'Alembic, keys of 32 bits: tables work');
	none_is_adopted($db, '...', 3);
	$finds->();
	unlike($written->(), qr/op\.\w/, '... and autogenerate finds nothing');

	# The page warns of this: the extension in the schema of the tables.
	$db = fresh_database('alembic_public', schema => 'public');
	$begin->('BigInteger');
	$alembic->('revision', '--autogenerate', '-m', 'again');
	like($written->(), qr/op\.drop_table\('snowflake_registry'\)/, '... autogenerate would drop its tables');

	# The page's filter for this case.
	my ($filter) = grep { /^include_name=/ } row_of('Alembic');
	write_program("$site/alembic/env.py", slurp_file("$site/alembic/env.py") =~ s/(target_metadata=target_metadata)/$1, $filter/gr);
	unlink glob "$site/alembic/versions/*.py";
	compares('Alembic with the filter', 'public', sub { $finds->(); return $written->() }, says => qr/^(?!.*drop_table\('snowflake_).*drop_table\('item'\)/s);

	# The extension in a revision.
	my ($revision) = recipe('Migrations in Alembic');
	$db = fresh_database('alembic_extension', schema => undef);
	$begin->('BigInteger');
	$alembic->('revision', '-m', 'snowflake');
	my ($path) = glob "$site/alembic/versions/*_snowflake.py";
	write_program($path, slurp_file($path) =~ s/^def upgrade\(.*?(?=^def )/$revision\n\n/msr);
	# A revision without the page's block, in the same transaction as the inserts of the next one.
	my $insert = qq{    op.execute("INSERT INTO author (name) VALUES ('seed')")\n};
	my $one = $revision =~ s/^    with .*\n    (.*)/$1/mr;
	isnt($one, $revision, 'a block of its own');
	my ($head) = slurp_file($path) =~ /^revision(?:: str)? = '(\w+)'/m;
	write_program("$site/alembic/versions/next.py", "from alembic import op\nimport sqlalchemy as sa\nrevision = 'next'\ndown_revision = '$head'\n"
		. "def upgrade():\n    op.create_table('author', sa.Column('id', sa.BigInteger(), primary_key=True), sa.Column('name', sa.Text()))\n$insert");
	my $whole = slurp_file($path);
	write_program($path, $whole =~ s/^    with .*\n    (.*)/$1/mr);
	my ($well, $out) = command_says($site, $python, '-m', 'alembic.config', 'upgrade', 'head');
	ok(!$well && $out =~ /cannot issue ids in the transaction that created the extension/, '... without it, the ids of the next revision fail') or diag($out);
	write_program($path, $whole);
	$alembic->('upgrade', 'head');
	is($server->safe_psql($db, 'SELECT count(*), min(id) > 1::bigint << 40 FROM author'), '1|t', '... with it, they do not');
}
else { left_out('Migrations in Alembic', $version{alembic} ? 'no psycopg2' : 'no alembic'); }

$server->stop('fast');
no_recipe_left();
