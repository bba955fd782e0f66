# What the tests of issuing share: ids as clients got them, every one remembered, and what the status and the registry say.
package IdsTest;

use strict;
use warnings;

use Exporter 'import';
use SnowflakeTest;

our @EXPORT = qw($epoch_ms remember forget_ids repeated remembered issue session tick_of worker_of status keeper_pid registry watermarks);

# Of the default layout, as are the functions below.
our $epoch_ms = 1735689600000;

# Every id that a client of the server at hand ever got.
my (%seen, $repeated);
forget_ids();

sub remember { $repeated += grep { $seen{$_}++ } @_; return @_; }
sub repeated { return $repeated; }
sub remembered { return scalar keys %seen; }
sub forget_ids { %seen = (); $repeated = 0; return; }    # another registry

# Ids in the order of their calls, from a connection of its own.
sub issue
{
	my ($server, $count) = @_;
	return remember(split / /, $server->safe_psql('postgres',
			"SELECT string_agg(snowflake_nextval()::text, ' ') FROM generate_series(1, $count)"));
}

sub session { return $_[0]->background_psql('postgres', on_error_stop => 0); }

sub tick_of { return $_[0] >> 22; }
sub worker_of { return $_[0] >> 12 & 1023; }

# Columns of the status, as psql prints them.
sub status { return $_[0]->safe_psql('postgres', "SELECT $_[1] FROM snowflake_status"); }
sub keeper_pid { return status($_[0], 'keeper_pid'); }

sub registry { return $_[0]->safe_psql('postgres', 'SELECT worker_id, window_end FROM snowflake_registry ORDER BY lease_id'); }

# worker_id => last_tick
sub watermarks
{
	return { map { split /\|/ } split /\n/, $_[0]->safe_psql('postgres', 'SELECT worker_id, last_tick FROM snowflake_watermark') };
}

1;
