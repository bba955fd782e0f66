/*
 * Lets one psql serve many calls. Preloaded into psql, this runs psql's main() once for each
 * request, in a forked child.
 *
 * A psql that is executed spends most of its time in the dynamic linker, and tests start thousands.
 * Here the linker runs once; each call is still a process of its own, with psql's own code,
 * arguments, environment and exit status.
 *
 * FORK_PSQL names two descriptors, for example "3 4". A request comes in on the first: a length
 * (uint32), then that many bytes: strings that end with a zero byte. They are the folder to work
 * in; the files for standard input, output and error, each empty for the one that this process has;
 * the number of arguments; the arguments; and the environment. The answer goes out on the second:
 * what wait() says of the child, as int32. At the end of the input this process ends.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int (*Main)(int, char **, char **);
typedef int (*StartMain)(Main, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);

static Main psql_main;
static int requests, answers;
extern char **environ;

/* False at the end of the input. */
static int read_all(void *to, size_t size)
{
	size_t done = 0;

	while (done < size)
	{
		ssize_t now = read(requests, (char *) to + done, size - done);

		if (now == 0 || (now < 0 && errno != EINTR))
			return 0;
		if (now > 0)
			done += now;
	}
	return 1;
}

static void redirect(const char *file, int flags, int to)
{
	int from;

	if (*file == '\0')
		return;
	from = open(file, flags);
	if (from < 0 || dup2(from, to) < 0)
		_exit(126);
	close(from);
}

/* In the child: does what the request says, which ends at its `end`. */
static int run(char *request, const char *end)
{
	char *strings[5];
	char **rest;
	int count = 0, arguments;

	for (int i = 0; i < 5; i++, request += strlen(request) + 1)
		strings[i] = request;
	arguments = atoi(strings[4]);
	rest = calloc((end - request) + 2, sizeof(char *));
	if (rest == NULL || chdir(strings[0]) != 0)
		_exit(126);
	redirect(strings[1], O_RDONLY, STDIN_FILENO);
	redirect(strings[2], O_WRONLY, STDOUT_FILENO);
	redirect(strings[3], O_WRONLY, STDERR_FILENO);
	close(requests);
	close(answers);
	for (; request < end; request += strlen(request) + 1)
	{
		/* main() wants a null pointer behind its arguments. */
		if (count == arguments)
			count++;
		rest[count++] = request;
	}
	environ = rest + arguments + 1;
	return psql_main(arguments, rest, environ);
}

static int serve(int argc, char **argv, char **env)
{
	uint32_t size;

	(void) argc;
	(void) argv;
	(void) env;
	if (sscanf(getenv("FORK_PSQL") ? getenv("FORK_PSQL") : "", "%d %d", &requests, &answers) != 2)
		return 1;
	while (read_all(&size, sizeof size))
	{
		char *request = malloc((size_t) size + 1);
		int32_t status = 126 << 8;
		int found = 0;
		pid_t child;

		if (request == NULL || !read_all(request, size))
			return 1;
		request[size] = '\0';
		child = fork();
		if (child == 0)
			exit(run(request, request + size));
		while (child > 0 && waitpid(child, &found, 0) < 0)
		{
			if (errno != EINTR)
				return 1;
		}
		if (child > 0)
			status = found;
		if (write(answers, &status, sizeof status) != sizeof status)
			return 1;
		free(request);
	}
	return 0;
}

__attribute__((visibility("default"))) int
__libc_start_main(Main program, int argc, char **argv, void (*init)(void), void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
	StartMain real = (StartMain) dlsym(RTLD_NEXT, "__libc_start_main");

	psql_main = program;
	return real(serve, argc, argv, init, fini, rtld_fini, stack_end);
}
