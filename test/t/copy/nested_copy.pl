# A trigger of a COPY runs another COPY, up to three levels deep, and one of these fails. Every COPY
# gives each row its own id, and the outer COPY continues as it began (G1, G2).
# Not in the default run: it starts some 100 processes.

use strict;
use warnings;

use lib 'test/perl';
use CopyTest;
use Test::More;

CopyTest::start('nested');

value('CREATE TABLE other AS SELECT i FROM generate_series(1, 50) i');
my $trials = 0;

subtest 'a COPY within a COPY' => sub {
	value(join '', map { "CREATE TABLE $_ (n int, id bigint DEFAULT snowflake_nextval());" } qw(outer_ inner_ deep));
	my %nested = (
		'BEFORE INSERT ON outer_ FOR EACH STATEMENT' => 'many', 'AFTER INSERT ON outer_ FOR EACH STATEMENT' => 'many',
		'AFTER INSERT ON outer_ FOR EACH ROW' => 'many', 'BEFORE INSERT ON outer_ FOR EACH ROW' => 'one');
	my $inner = "COPY inner_ (n) FROM '$file'";
	my $caught = q{DO $$ BEGIN COPY inner_ (n) FROM PROGRAM 'seq 5; echo x'; EXCEPTION WHEN OTHERS THEN NULL; END $$};
	my $copy = "COPY outer_ (n) FROM '$file'";
	for my $trigger (sort keys %nested)
	{
		for my $command ($inner, $caught)
		{
			value("TRUNCATE outer_, inner_; DROP TRIGGER IF EXISTS nest ON outer_;"
				. " CREATE TRIGGER nest $trigger EXECUTE FUNCTION run(\$run\$$command\$run\$)");
			if ($nested{$trigger} eq 'many') { goes_in_many($trigger, $copy, 'outer_'); }
			else { goes_in_one_by_one($trigger, $copy, $rows, 'outer_'); }
			ids_are_good('outer_', $rows, 'the outer one');
			ids_are_good('inner_', $command eq $inner ? $rows : 0, 'the inner one');
			is(value('SELECT count(*) = count(DISTINCT id) FROM (TABLE outer_ UNION ALL TABLE inner_) t'), 't', 'no id is in both');
			$trials++;
		}
	}
	# After the inner COPY, and after any other command, the outer COPY continues as before.
	value('TRUNCATE outer_; ALTER TABLE outer_ ADD CHECK (way_is_open())');
	for my $command ($inner, $caught, 'CREATE TEMP TABLE x ON COMMIT DROP AS SELECT 1', 'SET LOCAL work_mem = 1024', q{DO 'BEGIN END'})
	{
		value("DROP TRIGGER nest ON outer_; CREATE TRIGGER nest BEFORE INSERT ON outer_ FOR EACH STATEMENT EXECUTE FUNCTION run(\$run\$$command\$run\$)");
		is(calls("COPY outer_ (n) FROM PROGRAM 'seq 10'"), '0|' . ($command eq $inner ? $rows + 10 : $command eq $caught ? 15 : 10),
			"after $command: the outer COPY");
	}
	# Three levels; the innermost COPY runs ADD COLUMN.
	value(qq{TRUNCATE outer_, inner_; DROP TRIGGER nest ON outer_;
CREATE TRIGGER nest AFTER INSERT ON outer_ FOR EACH ROW EXECUTE FUNCTION run(\$\$$inner\$\$);
CREATE TRIGGER nest AFTER INSERT ON inner_ FOR EACH ROW EXECUTE FUNCTION run(\$\$COPY deep (n) FROM '$file'\$\$);
CREATE TRIGGER nest AFTER INSERT ON deep FOR EACH ROW EXECUTE FUNCTION run('ALTER TABLE other ADD COLUMN deep bigint DEFAULT snowflake_nextval()')});
	goes_in_many('three deep', $copy, qw(outer_ inner_ deep));
	is(value('SELECT count(*), count(DISTINCT id) FROM (TABLE outer_ UNION ALL TABLE inner_ UNION ALL TABLE deep) t'),
		3 * $rows . '|' . 3 * $rows, 'all ids differ');
	is(value('SELECT count(DISTINCT deep) FROM other'), 50, 'ADD COLUMN in the innermost gave each row its own');
};

diag("$trials trials of nested COPYs");

finish();
