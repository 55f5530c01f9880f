// Preloaded into a server, it shifts the wall clock that the server sees by the seconds at the start of the file $CLOCK.
// System calls are made directly: to look for the functions that are replaced would need memory, and allocators look at
// the clock.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile const int64_t *shift;

__attribute__((constructor)) static void map_shift(void) {
  const char *name = getenv("CLOCK");
  int fd = name ? open(name, O_RDONLY) : -1;
  void *at = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *shift, PROT_READ, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) abort();
  shift = at;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  int failed = syscall(SYS_clock_gettime, clock, now);
  int wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
  if (!failed && wall && shift) now->tv_sec += *shift;
  return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  struct timespec t;
  (void)zone;
  if (clock_gettime(CLOCK_REALTIME, &t)) return -1;
  now->tv_sec = t.tv_sec;
  now->tv_usec = t.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *now) {
  struct timespec t;
  if (clock_gettime(CLOCK_REALTIME, &t)) return -1;
  if (now) *now = t.tv_sec;
  return t.tv_sec;
}

// A wait until a time of the clock that the server sees: the system has another, and were it later, the wait would end
// at once, for ever. Which clock a condition goes by is not to be seen, but no monotonic one counts decades.
int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict until) {
  struct timespec t = *until;
  if (t.tv_sec < 1000000000) return pthread_cond_clockwait(condition, mutex, CLOCK_MONOTONIC, &t);
  if (shift) t.tv_sec -= *shift;
  return pthread_cond_clockwait(condition, mutex, CLOCK_REALTIME, &t);
}
