# The rooms of the source, from the table in src/README.md.
package Rooms;

use strict;
use warnings;

# Room => the rooms that it may know, itself included. From the root of the project.
sub may_know
{
	my %may_know;
	open my $in, '<', 'src/README.md' or die "src/README.md: $!\n";
	while (<$in>)
	{
		my ($room, $known) = m{^\| `([\w/]+)/` \|.*\|([^|]*)\|$} or next;
		$may_know{$room} = { map { $_ => 1 } $room, $known =~ m{`([\w/]+)/`}g };
	}
	return \%may_know;
}

# Whether a file may know another; both paths begin below src/. The roof connects the rooms when the
# library is loaded.
sub allowed
{
	my ($may_know, $file, $other) = @_;
	return 1 if $file =~ m{^pg/module\b};
	my ($room, $other_room) = map { m{^(.*)/} } $file, $other;
	return $may_know->{$room}{$other_room};
}

1;
