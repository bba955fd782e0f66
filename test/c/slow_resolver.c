/*
 * A resolver that hangs, for test/t/lifecycle/slow_resolver.pl.
 *
 * Preloaded (LD_PRELOAD), it sleeps for a minute when a process looks up the address of
 * "slow.test". Before, it creates the file that SNOWFLAKE_RESOLVER_FILE names. "quick.test" is
 * 127.0.0.1.
 */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef int (*resolver)(const char *, const char *, const struct addrinfo *, struct addrinfo **);

__attribute__((visibility("default"))) int getaddrinfo(const char *name, const char *service,
                                                       const struct addrinfo *hints, struct addrinfo **addresses) {
  const char *file = getenv("SNOWFLAKE_RESOLVER_FILE");
  const resolver real = (resolver)dlsym(RTLD_NEXT, "getaddrinfo");

  if (name != NULL && file != NULL && (hints == NULL || (hints->ai_flags & AI_NUMERICHOST) == 0)) {
    if (strcmp(name, "quick.test") == 0) name = "127.0.0.1";
    if (strcmp(name, "slow.test") == 0) {
      struct timespec left = {60, 0};

      close(open(file, O_WRONLY | O_CREAT, 0600));
      while (nanosleep(&left, &left) != 0) {
      }
      return EAI_AGAIN;
    }
  }
  return real(name, service, hints, addresses);
}
