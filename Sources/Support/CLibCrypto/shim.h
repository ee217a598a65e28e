#if __has_include(<openssl/evp.h>)
#include <openssl/evp.h>
#else
#error "openssl/evp.h is missing: run `make setup` (it installs libssl-dev), then build again"
#endif
