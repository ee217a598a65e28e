#include "CKeyedGCM.h"
#include <openssl/evp.h>

void *keyed_gcm_new(const unsigned char *key) {
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    if (context && EVP_EncryptInit_ex(context, EVP_aes_128_gcm(), NULL, key, NULL) == 1) return context;
    EVP_CIPHER_CTX_free(context);
    return NULL;
}

int keyed_gcm_seal(void *context, const unsigned char *nonce, const unsigned char *authenticated, size_t authenticated_count,
                   const unsigned char *plaintext, size_t count, unsigned char *output) {
    int written = 0;
    return EVP_EncryptInit_ex(context, NULL, NULL, NULL, nonce) == 1
        && EVP_EncryptUpdate(context, NULL, &written, authenticated, (int)authenticated_count) == 1
        && EVP_EncryptUpdate(context, output, &written, plaintext, (int)count) == 1
        && EVP_EncryptFinal_ex(context, output + count, &written) == 1
        && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, output + count) == 1;
}
