// The entry of libFuzzer for programs that have a main of their own (compiler-rt/lib/fuzzer/FuzzerInterface.h).
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerRunDriver(int *_Nonnull count, char *_Nullable *_Nullable *_Nonnull arguments,
                        int (*_Nonnull run)(const uint8_t *_Nullable bytes, size_t count));
