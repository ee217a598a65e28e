#ifndef CSYNCS_H
#define CSYNCS_H

/// How often this process has called fsync or fdatasync, on all threads. Stands still on other systems than Linux.
unsigned long sync_count(void);

/// Lets every later fsync and fdatasync wait for so many nanoseconds more, as on a slower disk. Nothing waits on other systems than Linux.
void sync_delay(unsigned long nanoseconds);

#endif
