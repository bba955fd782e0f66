/*
 * Runs a command, and ends it if its processes have used too much processor time, or if they
 * neither print nor compute. Elapsed time is no limit, because it says more about the machine than
 * about the command.
 *
 *     limit SECONDS FILE COMMAND [ARGUMENT...]
 *
 * The command may use eight times SECONDS of processor time. It may be silent for SECONDS: its
 * standard output, a file, does not grow, and none of its processes is running or waits for the
 * disk. Its processes are all its descendants: an orphan, such as a server that pg_ctl has started,
 * becomes a child of this process.
 *
 * FILE then has a line: the processor time in seconds, how many of its processes are left a second
 * later, and, if the command was ended, why. The exit status is the command's, 128 + N if signal N
 * ended it, and 124 at a limit.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The limit of processor time, as a multiple of the limit of silence. */
#define PROCESSOR_LIMITS 8
/* At most between two looks at the processes, and from SIGTERM to SIGKILL, in seconds. */
#define LOOK_S 5
#define GRACE_S 10

typedef struct
{
	double processor_s; /* of those that live, with their children that they have waited for */
	int live;
	int busy; /* are running or wait for the disk */
} Look;

/* Calls `visit` for each process that descends from this one. */
static void visit_descendants(pid_t parent, void (*visit)(pid_t, Look *), Look *look)
{
	char name[64];
	FILE *children;
	int child;

	snprintf(name, sizeof(name), "/proc/%d/task/%d/children", (int) parent, (int) parent);
	children = fopen(name, "r");
	if (children == NULL)
		return;
	while (fscanf(children, "%d", &child) == 1)
	{
		visit_descendants(child, visit, look);
		visit(child, look);
	}
	fclose(children);
}

static void look_at(pid_t pid, Look *look)
{
	char name[64], line[1024] = "", state;
	unsigned long user, system;
	long waited_user, waited_system;
	const char *rest;
	FILE *stat;

	snprintf(name, sizeof(name), "/proc/%d/stat", (int) pid);
	stat = fopen(name, "r");
	if (stat == NULL)
		return;
	if (fgets(line, sizeof(line), stat) == NULL)
		line[0] = '\0';
	fclose(stat);
	/* A program's name may contain anything. */
	rest = strrchr(line, ')');
	if (rest == NULL || sscanf(rest, ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %ld %ld", &state, &user, &system,
							   &waited_user, &waited_system) != 5)
		return;
	look->processor_s += (user + system + waited_user + waited_system) / (double) sysconf(_SC_CLK_TCK);
	look->live += state != 'Z';
	look->busy += state == 'R' || state == 'D';
}

static void end_now(pid_t pid, Look *look)
{
	(void) look;
	kill(pid, SIGKILL);
}

static double waited_for_s(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static long now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* Waits for children that have ended. Returns whether the command is one of them, and sets its
 * status. */
static int reap(pid_t command, int *status)
{
	int ended = 0, its;
	pid_t pid;

	while ((pid = waitpid(-1, &its, WNOHANG)) > 0)
		if (pid == command)
		{
			*status = its;
			ended = 1;
		}
	return ended;
}

static off_t printed(void)
{
	struct stat file;

	return fstat(STDOUT_FILENO, &file) == 0 ? file.st_size : 0;
}

int main(int argc, char **argv)
{
	const long limit_s = argc > 3 ? atol(argv[1]) : 0;
	const long look_s = limit_s < LOOK_S ? limit_s : LOOK_S;
	const struct timespec moment = {0, 20 * 1000 * 1000};
	long looked_s, silent_s = 0, ended_s = 0;
	Look left;
	int tries = 0;
	char reason[128] = "";
	sigset_t watched, before;
	off_t size;
	pid_t command;
	int status = 0;
	FILE *file;

	if (limit_s <= 0)
	{
		fprintf(stderr, "usage: limit SECONDS FILE COMMAND [ARGUMENT...]\n");
		return 125;
	}
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	sigemptyset(&watched);
	sigaddset(&watched, SIGCHLD);
	sigaddset(&watched, SIGTERM);
	sigaddset(&watched, SIGINT);
	sigaddset(&watched, SIGHUP);
	sigprocmask(SIG_BLOCK, &watched, &before);
	command = fork();
	if (command < 0)
	{
		perror("limit: fork");
		return 125;
	}
	if (command == 0)
	{
		sigprocmask(SIG_SETMASK, &before, NULL);
		execvp(argv[3], argv + 3);
		fprintf(stderr, "limit: %s: %s\n", argv[3], strerror(errno));
		_exit(127);
	}
	looked_s = now_s();
	size = printed();
	while (!reap(command, &status))
	{
		const struct timespec pause = {1, 0};
		const int signal = sigtimedwait(&watched, NULL, &pause);
		const long elapsed_s = now_s() - looked_s;
		Look look = {waited_for_s(), 0, 0};

		if (signal > 0 && signal != SIGCHLD)
			kill(command, signal);
		if (ended_s != 0 && now_s() - ended_s >= GRACE_S)
			visit_descendants(getpid(), end_now, NULL);
		if (ended_s != 0 || elapsed_s < look_s)
			continue;
		visit_descendants(getpid(), look_at, &look);
		looked_s += elapsed_s;
		if (printed() != size)
			silent_s = 0;
		else if (look.busy == 0)
			silent_s += elapsed_s;
		size = printed();
		if (look.processor_s > PROCESSOR_LIMITS * limit_s)
			snprintf(reason, sizeof(reason), "ended after %ld s of processor time", PROCESSOR_LIMITS * limit_s);
		else if (silent_s >= limit_s)
			snprintf(reason, sizeof(reason), "ended after %ld s of silence", limit_s);
		if (reason[0] != '\0')
		{
			ended_s = now_s();
			kill(command, SIGTERM);
		}
	}
	if (reason[0] != '\0')
		visit_descendants(getpid(), end_now, NULL);
	/* What ends with the command may need a moment. */
	do
	{
		left = (Look) {0, 0, 0};
		visit_descendants(getpid(), look_at, &left);
	} while (left.live > 0 && ++tries < 50 && nanosleep(&moment, NULL) == 0);
	reap(command, &status);
	file = fopen(argv[2], "w");
	if (file != NULL)
	{
		fprintf(file, "%.1f %d %s\n", waited_for_s(), left.live, reason);
		fclose(file);
	}
	if (reason[0] != '\0')
		return 124;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
