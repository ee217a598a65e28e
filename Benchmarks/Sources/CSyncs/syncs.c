// fsync and fdatasync, counted. A definition in the program goes before the one in the shared library.
#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "CSyncs.h"

#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

static atomic_ulong count;
static atomic_ulong delay;

unsigned long sync_count(void) { return atomic_load_explicit(&count, memory_order_relaxed); }

void sync_delay(unsigned long nanoseconds) { atomic_store_explicit(&delay, nanoseconds, memory_order_relaxed); }

#if defined(__linux__)

#include <sys/prctl.h>
#include <sys/syscall.h>

static void counted(void) {
    atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
    unsigned long nanoseconds = atomic_load_explicit(&delay, memory_order_relaxed);
    if (nanoseconds == 0) return;
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0); // of this thread; else it may sleep for 50 microseconds more
    struct timespec duration = {.tv_sec = 0, .tv_nsec = (long)nanoseconds};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &duration, NULL);
}

int fsync(int descriptor) {
    counted();
    return (int)syscall(SYS_fsync, descriptor);
}

int fdatasync(int descriptor) {
    counted();
    return (int)syscall(SYS_fdatasync, descriptor);
}

#endif
