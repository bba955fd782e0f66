# What the tests of issuing share: all ids that clients got, and the content of the status and the
# registry.
package IdsTest;

use strict;
use warnings;

use Exporter 'import';
use SnowflakeTest;

our @EXPORT = qw($epoch_ms remember forget_ids repeated remembered issue session tick_of worker_of keeper_pid registry watermarks);

# For the default layout, like the functions below.
our $epoch_ms = 1735689600000;

# All ids that clients of the present server got.
my (%seen, $repeated);
forget_ids();

sub remember { $repeated += grep { $seen{$_}++ } @_; return @_; }
sub repeated { return $repeated; }
sub remembered { return scalar keys %seen; }
sub forget_ids { %seen = (); $repeated = 0; return; }    # another registry

# Ids in the order of their calls, from a separate connection.
sub issue
{
	my ($server, $count) = @_;
	return remember(split / /, $server->safe_psql('postgres',
			"SELECT string_agg(snowflake_nextval()::text, ' ') FROM generate_series(1, $count)"));
}

sub session { return $_[0]->background_psql('postgres', on_error_stop => 0); }

sub tick_of { return $_[0] >> 22; }
sub worker_of { return $_[0] >> 12 & 1023; }

sub keeper_pid { return status($_[0], 'keeper_pid'); }

sub registry { return $_[0]->safe_psql('postgres', 'SELECT worker_id, window_end FROM snowflake_registry ORDER BY lease_id'); }

# worker_id => last_tick
sub watermarks
{
	return { map { split /\|/ } split /\n/, $_[0]->safe_psql('postgres', 'SELECT worker_id, last_tick FROM snowflake_watermark') };
}

1;
