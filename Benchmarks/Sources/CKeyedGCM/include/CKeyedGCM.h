#ifndef CKEYEDGCM_H
#define CKEYEDGCM_H

#include <stddef.h>

/// A context of libcrypto with an AES-128-GCM key of 16 bytes set once; NULL when there is none.
void *keyed_gcm_new(const unsigned char *key);

/// Ciphertext and a tag of 16 bytes into `output`; the nonce has 12 bytes. 1 when all went well.
int keyed_gcm_seal(void *context, const unsigned char *nonce, const unsigned char *authenticated, size_t authenticated_count,
                   const unsigned char *plaintext, size_t count, unsigned char *output);

#endif
