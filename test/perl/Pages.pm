# What the tests of README.md and of the pages in doc/ share: the files' blocks of code, and the
# comments above them.
package Pages;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Utils;

our @EXPORT = qw(pages blocks_of find_block block_of rest_of run_elsewhere);

# README.md and every page of doc/ and its folders.
sub pages { return ('README.md', sort(glob('doc/*.md doc/*/*.md'))); }

# The blocks of a page in their order: {language, text, line, heading; test, fails, before, not_run:
# from a comment above; output: the block of plain text that comes next; taken: whether find_block()
# returned it}.
my %blocks_of;

sub blocks_of
{
	my ($page) = @_;
	$blocks_of{$page} //= [ read_blocks($page) ];
	return @{ $blocks_of{$page} };
}

sub read_blocks
{
	my ($page) = @_;
	my @blocks;
	my $text = slurp_file($page);
	while ($text =~ /((?:^<!--[^\n]*-->\n)*)^```(\w*)\n(.*?)^```$/msg)
	{
		my ($comments, $language, $code) = ($1, $2, $3);
		my $before = substr($text, 0, $-[0]);
		my $block = { page => $page, language => $language, text => $code, line => 1 + ($before =~ tr/\n//) };
		($block->{heading}) = ($before =~ s/^```.*?^```$//msgr) =~ /.*^#+ +([^\n]*?) *$/ms;
		while ($comments =~ /^<!-- (.*?) -->$/mg)
		{
			local $_ = $1;
			if (m{^run by (t/\w+/\w+)$}) { $block->{test} = $1; }
			elsif (/^fails with (\w{5})$/) { $block->{fails} = $1; }
			elsif (/^before: (.*)$/) { $block->{before} = $1; }
			elsif (/^not run: (.+)$/) { $block->{not_run} = $1; }
			else { die "$page:$block->{line}: nobody knows what this comment means: $_\n"; }
		}
		$blocks[-1]{output} = $code if $language eq '' && @blocks && $blocks[-1]{language} eq 'sql' && $before =~ /^```\n+\z/m;
		push @blocks, $block;
	}
	return @blocks;
}

# The only block of a page that contains this text.
sub find_block
{
	my ($page, $what, $language) = @_;
	my @found = grep { $_->{language} eq ($language // 'sql') && $_->{text} =~ /$what/ } blocks_of($page);
	die scalar(@found) . " blocks of $page have $what\n" unless @found == 1;
	$found[0]{taken} = 1;
	return $found[0];
}

sub block_of { return find_block(@_)->{text}; }

# The texts of a page's blocks that no test has taken, without the blocks of other tests and the
# output of taken blocks.
sub rest_of
{
	my ($page) = @_;
	my @blocks = blocks_of($page);
	my %is_output = map { $_->{output} => 1 } grep { $_->{taken} && defined $_->{output} } @blocks;
	return join "\n", map { $_->{text} } grep { !$_->{taken} && !$_->{test} && !$is_output{ $_->{text} } } @blocks;
}

# The test that runs all SQL of a page, if it says so.
sub run_elsewhere
{
	my ($page) = @_;
	return slurp_file($page) =~ m{^<!-- SQL of this page is run by (t/\w+/\w+) -->$}m ? $1 : undef;
}

1;
