// Waits for 200 ms by each clock, and prints how many ms that took.
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static long ms(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static long wait_by(clockid_t clock) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_condattr_t by;
  pthread_cond_t never;
  pthread_condattr_init(&by);
  pthread_condattr_setclock(&by, clock);
  pthread_cond_init(&never, &by);
  long began = ms(CLOCK_MONOTONIC), until = ms(clock) + 200;
  struct timespec t = {until / 1000, until % 1000 * 1000000};
  pthread_mutex_lock(&mutex);
  while (pthread_cond_timedwait(&never, &mutex, &t) != ETIMEDOUT) {
  }
  pthread_mutex_unlock(&mutex);
  return ms(CLOCK_MONOTONIC) - began;
}

int main(void) {
  printf("%ld %ld\n", wait_by(CLOCK_REALTIME), wait_by(CLOCK_MONOTONIC));
  return 0;
}
