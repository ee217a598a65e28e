// What signing with a key in a token needs of PKCS #11 v2.40 and v3.0 (OASIS; "Cryptographic Token Interface Base Specification", sections 3 and 5): types, the
// numbers used, and the list of functions that a module gives out. Names of functions that are not called here stand for their places only.
// Structures have the alignment of the platform, as on every system but Windows.
#ifndef SIGNET_PKCS11_H
#define SIGNET_PKCS11_H

typedef unsigned char CK_BYTE;
typedef unsigned long CK_ULONG;

typedef struct { CK_BYTE major, minor; } CK_VERSION;
typedef struct { CK_ULONG type; void *value; CK_ULONG length; } CK_ATTRIBUTE;
typedef struct { CK_ULONG mechanism; void *parameter; CK_ULONG length; } CK_MECHANISM;
typedef struct { void *createMutex, *destroyMutex, *lockMutex, *unlockMutex; CK_ULONG flags; void *reserved; } CK_C_INITIALIZE_ARGS;
typedef struct {
    CK_BYTE label[32], manufacturer[32], model[16], serialNumber[16];
    CK_ULONG flags, counts[10];
    CK_VERSION hardware, firmware;
    CK_BYTE time[16];
} CK_TOKEN_INFO;

enum {
    CKR_OK = 0, CKR_PIN_INCORRECT = 0xA0, CKR_PIN_LOCKED = 0xA4, CKR_USER_ALREADY_LOGGED_IN = 0x100, CKR_CRYPTOKI_ALREADY_INITIALIZED = 0x191,
    CKF_OS_LOCKING_OK = 2, CKF_SERIAL_SESSION = 4, CKF_USER_PIN_FINAL_TRY = 0x20000, CKF_USER_PIN_LOCKED = 0x40000, CKU_USER = 1,
    CKO_PUBLIC_KEY = 2, CKO_PRIVATE_KEY = 3, CKA_CLASS = 0, CKA_LABEL = 3, CKA_EC_POINT = 0x181, CKM_EDDSA = 0x1057
};

typedef struct CK_FUNCTION_LIST {
    CK_VERSION version;
    CK_ULONG (*C_Initialize)(void *arguments);
    void *C_Finalize, *C_GetInfo, *C_GetFunctionList;
    CK_ULONG (*C_GetSlotList)(CK_BYTE withToken, CK_ULONG *slots, CK_ULONG *count);
    void *C_GetSlotInfo;
    CK_ULONG (*C_GetTokenInfo)(CK_ULONG slot, CK_TOKEN_INFO *info);
    void *C_GetMechanismList, *C_GetMechanismInfo, *C_InitToken, *C_InitPIN, *C_SetPIN;
    CK_ULONG (*C_OpenSession)(CK_ULONG slot, CK_ULONG flags, void *application, void *notify, CK_ULONG *session);
    CK_ULONG (*C_CloseSession)(CK_ULONG session);
    void *C_CloseAllSessions, *C_GetSessionInfo, *C_GetOperationState, *C_SetOperationState;
    CK_ULONG (*C_Login)(CK_ULONG session, CK_ULONG user, CK_BYTE *pin, CK_ULONG length);
    void *C_Logout, *C_CreateObject, *C_CopyObject, *C_DestroyObject, *C_GetObjectSize;
    CK_ULONG (*C_GetAttributeValue)(CK_ULONG session, CK_ULONG object, CK_ATTRIBUTE *attributes, CK_ULONG count);
    void *C_SetAttributeValue;
    CK_ULONG (*C_FindObjectsInit)(CK_ULONG session, CK_ATTRIBUTE *attributes, CK_ULONG count);
    CK_ULONG (*C_FindObjects)(CK_ULONG session, CK_ULONG *objects, CK_ULONG maximum, CK_ULONG *count);
    CK_ULONG (*C_FindObjectsFinal)(CK_ULONG session);
    void *C_EncryptInit, *C_Encrypt, *C_EncryptUpdate, *C_EncryptFinal, *C_DecryptInit, *C_Decrypt, *C_DecryptUpdate, *C_DecryptFinal;
    void *C_DigestInit, *C_Digest, *C_DigestUpdate, *C_DigestKey, *C_DigestFinal;
    CK_ULONG (*C_SignInit)(CK_ULONG session, CK_MECHANISM *mechanism, CK_ULONG key);
    CK_ULONG (*C_Sign)(CK_ULONG session, CK_BYTE *data, CK_ULONG length, CK_BYTE *signature, CK_ULONG *signatureLength);
} CK_FUNCTION_LIST;

typedef CK_ULONG (*CK_C_GetFunctionList)(CK_FUNCTION_LIST **list);

#endif
