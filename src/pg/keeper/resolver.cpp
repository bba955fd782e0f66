// Forks a process that looks up a name and writes the addresses into a pipe.
#include "pg/keeper/resolver.h"

#include "pg/processes.h"

#include <fcntl.h>
#include <netdb.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace snowflake {
namespace {
constexpr unsigned kMostSeconds = 10;  // longer than the keeper waits
constexpr size_t kMostBytes = 1024;    // fits into a pipe: one write, one read
constexpr char kFound = '+', kFailed = '-';

void End(int) { _exit(1); }

// As libpq does it.
int GetAddresses(const char *name, int flags, addrinfo **found) {
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  return getaddrinfo(name, nullptr, &hints, found);
}

// In the copy. Calls nothing of the server's but what detaches from its memory.
[[noreturn]] void Answer(const char *name, int answer) {
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  constexpr int endings[] = {SIGALRM, SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM};
  for (const int number : endings) signal(number, End);
  PGSharedMemoryDetach();
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  alarm(kMostSeconds);

  char text[kMostBytes] = {kFound};
  size_t length = 1;
  addrinfo *found = nullptr;
  const int failure = GetAddresses(name, 0, &found);
  for (const addrinfo *at = found; failure == 0 && at != nullptr; at = at->ai_next) {
    char address[NI_MAXHOST];
    if (getnameinfo(at->ai_addr, at->ai_addrlen, address, sizeof(address), nullptr, 0, NI_NUMERICHOST) != 0) continue;
    if (length + strlen(address) + 2 > sizeof(text)) break;
    if (length > 1) text[length++] = ',';
    length += strlcpy(text + length, address, sizeof(text) - length);
  }
  if (length == 1) {
    text[0] = kFailed;
    const size_t whole = strlcpy(text + 1, failure != 0 ? gai_strerror(failure) : "no address", sizeof(text) - 1);
    length = Min(1 + whole, sizeof(text) - 1);
  }
  _exit(write(answer, text, length) == static_cast<ssize_t>(length) ? 0 : 1);
}

struct Resolution {
  pid_t child;
  int answer;  // becomes readable
};

// False, with errno, if no process or pipe could be made.
bool StartLookUp(const char *name, Resolution *look_up) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  // No handler of this process runs in the copy.
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  const pid_t child = fork();
  if (child == 0) Answer(name, ends[1]);
  const int saved_errno = errno;
  sigprocmask(SIG_SETMASK, &before, nullptr);
  close(ends[1]);
  if (child < 0) close(ends[0]);
  errno = saved_errno;
  *look_up = {child, ends[0]};
  return child > 0;
}

// Once the answer is readable.
const char *ReadLookUp(const Resolution &look_up, const char **failure) {
  char text[kMostBytes + 1];
  ssize_t length;
  do {
    length = read(look_up.answer, text, kMostBytes);
  } while (length < 0 && errno == EINTR);
  text[Max(length, 0)] = '\0';
  if (length > 1 && text[0] == kFound) return pstrdup(text + 1);
  *failure = length > 1 ? pstrdup(text + 1) : "the process that looks it up has ended";
  return nullptr;
}

void EndLookUp(const Resolution &look_up) {
  close(look_up.answer);
  kill(look_up.child, SIGKILL);
  while (waitpid(look_up.child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void EndLookUpAtExit(int, Datum look_up) { EndLookUp(*reinterpret_cast<Resolution *>(DatumGetPointer(look_up))); }

}  // namespace

const char *AddressesOf(const char *name, bool (*await)(int descriptor, int events, int64_t deadline_us),
                        int64_t deadline_us, const char **failure) {
  Resolution look_up;
  if (!StartLookUp(name, &look_up)) {
    *failure = psprintf("%m");
    return nullptr;
  }
  *failure = "it took too long";
  const char *volatile addresses = nullptr;
  PG_ENSURE_ERROR_CLEANUP(EndLookUpAtExit, PointerGetDatum(&look_up));
  {
    if (await(look_up.answer, WL_SOCKET_READABLE, deadline_us)) addresses = ReadLookUp(look_up, failure);
  }
  PG_END_ENSURE_ERROR_CLEANUP(EndLookUpAtExit, PointerGetDatum(&look_up));
  EndLookUp(look_up);
  return addresses;
}

bool IsName(const char *host) {
  if (host == nullptr || host[0] == '\0' || host[0] == '/' || host[0] == '@') return false;
  addrinfo *found = nullptr;
  if (GetAddresses(host, AI_NUMERICHOST, &found) != 0) return true;
  freeaddrinfo(found);
  return false;
}

}  // namespace snowflake
