# Runs each block of Go in doc/clients.md as it is on the page, and checks that the ids that it
# returns are the ids in the table. Then it does the same with ids of the type snowflake_id, as in
# the page's table.
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

my $go = program_in('go');
my $libraries = '/usr/share/gocode';
left_out_unless($go && -d "$libraries/src/github.com/jackc/pgx/v5" && -d "$libraries/src/gorm.io/driver/postgres", 'Go with pgx and GORM', 'test/clients has them');

my $server = client_server();
my $folder = PostgreSQL::Test::Utils::tempdir();
# Debian's libraries are where Go looked before it had modules.
@ENV{qw(GO111MODULE GOPATH GOCACHE GOFLAGS)} = ('off', "$folder:$libraries", "$folder/cache", '');
my ($pgx) = recipe('pgx');
my ($gorm) = recipe('GORM');
s/^/\t/mg for $pgx;
my $program = write_program("$folder/src/page/main.go", <<"GO");
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
)

$gorm
type Article Item

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, "")
	must(err)
	func() {
$pgx
		must(err)
		print("pgx", id, ids)
	}()
	var failed *pgconn.PgError
	_, err = conn.Exec(ctx, "DO \$\$BEGIN RAISE EXCEPTION 'no id' USING ERRCODE = 'SF001'; END\$\$")
	errors.As(err, &failed)

	db, err := gorm.Open(postgres.Open(""), &gorm.Config{})
	must(err)
	must(db.AutoMigrate(&Article{}))
	one := Article{Name: "first"}
	must(db.Create(&one).Error)
	many := []Article{{Name: "second"}, {Name: "third"}}
	must(db.Create(&many).Error)
	out, err := json.Marshal(map[string]any{"pgx": seen, "state": failed.Code, "gorm": append(many, one)})
	must(err)
	fmt.Println(string(out))
}

var seen []any

func print(_ string, id int64, ids []int64) { seen = []any{id, ids} }
GO
my $out;
ok(IPC::Run::run([ $go, 'build', '-o', "$folder/page", $program ], '<', '/dev/null', '>', \$out, '2>&1'), 'go build') or diag($out);
my $seen = run_program("$folder/page");
are_the_tables($server, [ $seen->{pgx}[0] ], 'pgx');
are_drawn($server, $seen->{pgx}[1], 100, 'pgx');
is($seen->{state}, 'SF001', '... and the SQLSTATE of an error');
are_the_tables($server, [ map { $_->{id} } @{ $seen->{gorm} } ], 'GORM', 'articles');
is($server->safe_psql('postgres', q{SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 'articles'::regclass}), 'snowflake_nextval()',
	'... by the default that AutoMigrate made');

# Types are those of Values(). Each program is built once, and its arguments select what it does.
my $register = (remedy_of('pgx'))[-1];
$program = write_program("$folder/src/forms/main.go", <<"GO");
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

$gorm
type Article Item

func must(err error) {
	if err != nil {
		panic(err)
	}
}

type form struct {
	reads map[string]bool
	finds map[string]string
	done  map[string]string
	ids   []string
}

func outcome(err error) string {
	var failed *pgconn.PgError
	if errors.As(err, &failed) {
		return failed.Code
	}
	if err != nil {
		return err.Error()
	}
	return "yes"
}

func (f *form) insert(name string, ids []int64, err error) {
	f.done[name] = outcome(err)
	if err == nil {
		for _, id := range ids {
			f.ids = append(f.ids, strconv.FormatInt(id, 10))
		}
	}
}

func (f *form) print() {
	reads := []string{}
	for kind := range f.reads {
		reads = append(reads, kind)
	}
	out, err := json.Marshal(map[string]any{"reads": reads, "finds": f.finds, "one": f.done["one"], "many": f.done["many"],
		"given": f.done["given"], "ids": f.ids, "copied": f.done["copied"]})
	must(err)
	fmt.Println(string(out))
}

func withPgx(ctx context.Context, f *form, known int64, registered bool) {
	conn, err := pgx.Connect(ctx, "")
	must(err)
	if registered {
		var oid uint32
		must(conn.QueryRow(ctx, "SELECT 'snowflake_id'::regtype::oid").Scan(&oid))
		$register
	}
	func() {
$pgx
		f.insert("one", []int64{id}, err)
	}()
	batch := &pgx.Batch{}
	var many []int64
	for _, name := range []string{"second", "third"} {
		batch.Queue("INSERT INTO item (name) VALUES (\$1) RETURNING id", name).QueryRow(func(row pgx.Row) error {
			var id int64
			err := row.Scan(&id)
			many = append(many, id)
			return err
		})
	}
	err = conn.SendBatch(ctx, batch).Close()
	f.insert("many", many, err)
	var next []int64
	must(conn.QueryRow(ctx, "SELECT array_agg(id) FROM snowflake_nextvals(2) id").Scan(&next))
	var given int64
	err = conn.QueryRow(ctx, "INSERT INTO item VALUES (\$1, \$2) RETURNING id", next[0], "given").Scan(&given)
	f.insert("given", []int64{given}, err)
	for kind, id := range map[string]any{"int64": known, "string": strconv.FormatInt(known, 10)} {
		rows, err := conn.Query(ctx, "SELECT id FROM item WHERE id = \$1 AND name = 'known'", id)
		must(err)
		f.finds[kind] = "no"
		for rows.Next() {
			values, err := rows.Values()
			must(err)
			f.reads[fmt.Sprintf("%T", values[0])] = true
			if fmt.Sprint(values[0]) == strconv.FormatInt(known, 10) {
				f.finds[kind] = "yes"
			}
		}
		if rows.Err() != nil {
			f.finds[kind] = outcome(rows.Err())
		}
	}
	if len(os.Args) > 2 {
		_, err = conn.CopyFrom(ctx, pgx.Identifier{"item"}, []string{"id", "name"}, pgx.CopyFromRows([][]any{{next[1], "copied"}}))
		f.insert("copied", next[1:], err)
		var all []int64
		must(conn.QueryRow(ctx, "SELECT array_agg(id) FROM item WHERE name = 'copied'").Scan(&all))
		if len(all) != 1 || all[0] != next[1] {
			f.done["copied"] = fmt.Sprint(all)
		}
	}
}

func withGorm(f *form, known int64) {
	db, err := gorm.Open(postgres.Open(""), &gorm.Config{Logger: logger.Discard})
	must(err)
	one := Article{Name: "first"}
	err = db.Create(&one).Error
	f.insert("one", []int64{one.ID}, err)
	many := []Article{{Name: "second"}, {Name: "third"}}
	err = db.Create(&many).Error
	f.insert("many", []int64{many[0].ID, many[1].ID}, err)
	var next int64
	must(db.Raw("SELECT snowflake_nextval()").Scan(&next).Error)
	given := Article{ID: next, Name: "given"}
	err = db.Create(&given).Error
	f.insert("given", []int64{given.ID}, err)
	var found Article
	f.finds["int64"] = outcome(db.First(&found, known).Error)
	if found.ID != known || found.Name != "known" {
		f.finds["int64"] = "no"
	}
	f.reads[fmt.Sprintf("%T", found.ID)] = true
	if len(os.Args) > 2 {
		must(db.AutoMigrate(&Article{}))
	}
}

func main() {
	f := &form{map[string]bool{}, map[string]string{}, map[string]string{}, nil}
	known, err := strconv.ParseInt(os.Getenv("CLIENTS_KNOWN_ID"), 10, 64)
	must(err)
	switch os.Args[1] {
	case "pgx":
		withPgx(context.Background(), f, known, false)
	case "registered":
		withPgx(context.Background(), f, known, true)
	case "gorm":
		withGorm(f, known)
	}
	f.print()
}

var _ = pgtype.Int8Codec{}
GO
ok(IPC::Run::run([ $go, 'build', '-o', "$folder/forms", $program ], '<', '/dev/null', '>', \$out, '2>&1'), 'go build') or diag($out);
each_form($server, 'item', sub {
	my ($form) = @_;
	is_as_told($server, 'pgx', $form, run_program("$folder/forms", 'pgx'));
	return unless $form eq 'column';
	my $copy = run_program("$folder/forms", 'pgx', 'copy');
	is($copy->{copied}, 'yes', 'CopyFrom() into a column of the type, and an array of it');
	is(join(' ', @{ run_program("$folder/forms", 'registered')->{reads} }), 'int64', '... and an integer, by what the page says');
});
each_form($server, 'articles', sub {
	my ($form) = @_;
	is_as_told($server, 'GORM', $form, run_program("$folder/forms", 'gorm'), 'articles');
	return unless $form eq 'column';
	run_program("$folder/forms", 'gorm', 'migrate');
	is($server->safe_psql('postgres', q{SELECT format_type(atttypid, NULL) FROM pg_attribute WHERE attrelid = 'articles'::regclass AND attname = 'id'}),
		'snowflake_id', 'AutoMigrate leaves the type of a key');
});

$server->stop('fast');
no_recipe_left();
