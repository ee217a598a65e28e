#ifndef CALLOCATIONS_H
#define CALLOCATIONS_H

/// How many blocks this process has asked the allocator for, on all threads. Stands still where the
/// allocator cannot be counted: check with an allocation before you believe a zero.
unsigned long allocation_count(void);

#endif
