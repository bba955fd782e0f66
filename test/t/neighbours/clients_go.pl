# The Go of doc/clients.md: each block is run as it stands there, and what it brings back are the ids in the table.
#
# The libraries are Debian 14's: test/clients makes a system that has them.

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
# Debian's libraries lie where Go looked before it had modules.
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

$server->stop('fast');
no_recipe_left();
