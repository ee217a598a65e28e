#ifndef CSYNCS_H
#define CSYNCS_H

/// How often this process has called fsync or fdatasync, on all threads. Stands still on other systems than Linux.
unsigned long sync_count(void);

#endif
