#if __has_include(<sodium.h>)
#include <sodium.h>
#else
#error "sodium.h is missing: run `make setup` (it installs libsodium-dev), then build again"
#endif
