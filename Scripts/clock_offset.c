// SPDX-License-Identifier: Apache-2.0

// A wall clock that is wrong, for one process that has this library loaded before it: by as many seconds as the file says that
// SIGNET_CLOCK_OFFSET names. Clocks that count, and what waits for them, are right, as on a machine whose clock is set. libfaketime 0.9.10 also
// moves timers that count: a process that uses timerfd then stands still for as long as its clock was set back.

#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int file = -1;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("SIGNET_CLOCK_OFFSET");
    if (path) file = open(path, O_RDONLY | O_CLOEXEC);
}

static long offset(void) {
    char text[32] = {0};
    if (file < 0 || pread(file, text, sizeof text - 1, 0) <= 0) return 0;
    return strtol(text, NULL, 10);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int result = (int)syscall(SYS_clock_gettime, clock, now);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += offset();
    return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    (void)zone;
    struct timespec time;
    if (clock_gettime(CLOCK_REALTIME, &time)) return -1;
    now->tv_sec = time.tv_sec;
    now->tv_usec = time.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *result) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result) *result = now.tv_sec;
    return now.tv_sec;
}
