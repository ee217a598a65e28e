// SPDX-License-Identifier: Apache-2.0

/// How frames are encrypted and keys derived.
///
/// Spec: RFC 9605, section 4.5; suites 6 to 8 as in the IANA registry "SFrame Cipher Suites".
///
/// Security: a tag of 4 bytes lets a forger through once in 2^32 tries. Such suites are here because they are
/// registered; ``isTagShort`` says which, and Signet's calls never choose one.
public enum CipherSuite: UInt16, Hashable, Sendable, CaseIterable {
    /// AES_128_CTR_HMAC_SHA256_80
    case aes128CTRTag80 = 1
    /// AES_128_CTR_HMAC_SHA256_64
    case aes128CTRTag64 = 2
    /// AES_128_CTR_HMAC_SHA256_32
    case aes128CTRTag32 = 3
    /// AES_128_GCM_SHA256_128
    case aes128GCM = 4
    /// AES_256_GCM_SHA512_128
    case aes256GCM = 5
    /// AES_256_CTR_HMAC_SHA512_80
    case aes256CTRTag80 = 6
    /// AES_256_CTR_HMAC_SHA512_64
    case aes256CTRTag64 = 7
    /// AES_256_CTR_HMAC_SHA512_32
    case aes256CTRTag32 = 8

    /// Nn: length of salt and nonce of every suite, in bytes.
    public static let nonceByteCount = 12

    /// Nk: length of the derived key, in bytes. With CTR it is an encryption key and then a MAC key.
    public var keyByteCount: Int { encryptionKeyByteCount + macKeyByteCount }

    /// Length of the AES key, in bytes.
    public var encryptionKeyByteCount: Int {
        switch self {
        case .aes128CTRTag80, .aes128CTRTag64, .aes128CTRTag32, .aes128GCM: 16
        case .aes256GCM, .aes256CTRTag80, .aes256CTRTag64, .aes256CTRTag32: 32
        }
    }

    /// Length of the HMAC key, in bytes; 0 with GCM.
    public var macKeyByteCount: Int {
        switch self {
        case .aes128GCM, .aes256GCM: 0
        case .aes128CTRTag80, .aes128CTRTag64, .aes128CTRTag32: 32
        case .aes256CTRTag80, .aes256CTRTag64, .aes256CTRTag32: 64
        }
    }

    /// Nt: length of the tag at the end of a frame, in bytes.
    public var tagByteCount: Int {
        switch self {
        case .aes128GCM, .aes256GCM: 16
        case .aes128CTRTag80, .aes256CTRTag80: 10
        case .aes128CTRTag64, .aes256CTRTag64: 8
        case .aes128CTRTag32, .aes256CTRTag32: 4
        }
    }

    /// Whether the tag is so short that guessing it pays.
    public var isTagShort: Bool { tagByteCount < 8 }

    /// Whether keys are derived, and CTR frames authenticated, with SHA-512 instead of SHA-256.
    var usesSHA512: Bool {
        switch self {
        case .aes128CTRTag80, .aes128CTRTag64, .aes128CTRTag32, .aes128GCM: false
        case .aes256GCM, .aes256CTRTag80, .aes256CTRTag64, .aes256CTRTag32: true
        }
    }
}
