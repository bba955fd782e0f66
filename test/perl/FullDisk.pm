# A full disk: a library for LD_PRELOAD that makes writes to pg_wal fail with ENOSPC while a file
# exists.
package FullDisk;

use strict;
use warnings;

use PostgreSQL::Test::Utils;

my $program = <<'C';
#define _GNU_SOURCE
#undef _FILE_OFFSET_BITS
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
static int full(int fd) {
  const char *flag = getenv("FULL_DISK_FLAG");
  char link[64], path[1024];
  if (flag == NULL || access(flag, F_OK) != 0) return 0;
  snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof(path) - 1);
  if (length < 0) return 0;
  path[length] = '\0';
  if (strstr(path, "/pg_wal/") == NULL) return 0;
  errno = ENOSPC;
  return 1;
}
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
ssize_t write(int fd, const void *data, size_t size) { return full(fd) ? -1 : NEXT(write)(fd, data, size); }
ssize_t pwrite(int fd, const void *data, size_t size, off_t at) { return full(fd) ? -1 : NEXT(pwrite)(fd, data, size, at); }
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) { return full(fd) ? -1 : NEXT(pwrite64)(fd, data, size, at); }
ssize_t pwritev(int fd, const struct iovec *data, int count, off_t at) { return full(fd) ? -1 : NEXT(pwritev)(fd, data, count, at); }
C

# Builds the library for one server; start_server() then starts the server with it:
# $server->{snowflake_disk}. Returns undef if there is no compiler.
my $library;
my $count = 0;

sub new
{
	my ($class) = @_;
	$library //= build();
	return $library && bless { flag => "$library." . ++$count }, $class;
}

sub build
{
	my $folder = PostgreSQL::Test::Utils::tempdir();
	append_to_file("$folder/full_disk.c", $program);
	my $compiler = $ENV{CC} // 'cc';
	return system("$compiler -O1 -shared -fPIC -o $folder/full_disk.so $folder/full_disk.c -ldl >/dev/null 2>&1") == 0 ? "$folder/full_disk.so" : '';
}

sub library { return $library; }
sub flag { return $_[0]->{flag}; }
sub fill { append_to_file($_[0]->{flag}, ''); return; }
sub empty { unlink $_[0]->{flag}; return; }

1;
