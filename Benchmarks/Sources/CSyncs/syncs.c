// fsync and fdatasync, counted. A definition in the program goes before the one in the shared library.
#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "CSyncs.h"

#include <stdatomic.h>
#include <unistd.h>

static atomic_ulong count;

unsigned long sync_count(void) { return atomic_load_explicit(&count, memory_order_relaxed); }

#if defined(__linux__)

#include <sys/syscall.h>

int fsync(int descriptor) {
    atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
    return (int)syscall(SYS_fsync, descriptor);
}

int fdatasync(int descriptor) {
    atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
    return (int)syscall(SYS_fdatasync, descriptor);
}

#endif
