// SPDX-License-Identifier: Apache-2.0

import SecretMemory

#if canImport(CSodium)
    import CSodium
    import Crypto

    /// How much work one guess at a password costs an attacker who has both the server's database and its OPRF seed.
    ///
    /// The client decides and remembers; a server cannot lower it, for another choice gives another key.
    ///
    /// Spec: RFC 9807, section 7 (KSF); Argon2id of RFC 9106, version 0x13, one lane, salt of 16 zero bytes, 64 bytes out.
    public enum KeyStretching: UInt8, Sendable, Hashable, CaseIterable {
        /// None. For the RFC's vectors only.
        ///
        /// Security: an attacker who has database and seed then guesses a million passwords per second.
        case identity = 0
        /// Argon2id, 3 passes over 64 MiB.
        case standard = 1
        /// Argon2id, 3 passes over 256 MiB.
        case strong = 2

        /// Stretches the output of the OPRF.
        ///
        /// - Throws: ``OPAQUEError/outOfMemory``.
        func stretch(_ output: borrowing WipedBytes, to stretched: borrowing WipedBytes) throws(OPAQUEError) {
            guard let memory else {
                return output.withPointer { from in
                    stretched.withPointer { $0.update(from: from, count: output.count) }
                }
            }
            let salt = [UInt8](repeating: 0, count: Int(crypto_pwhash_SALTBYTES))
            let result = output.withPointer { input in
                stretched.withPointer { stretched in
                    input.withMemoryRebound(to: CChar.self, capacity: output.count) {
                        crypto_pwhash(
                            stretched, 64, $0, UInt64(output.count), salt, 3, memory, crypto_pwhash_ALG_ARGON2ID13)
                    }
                }
            }
            guard result == 0 else { throw .outOfMemory }
        }

        /// In bytes; nil for none.
        private var memory: Int? {
            switch self {
            case .identity: nil
            case .standard: 64 << 20
            case .strong: 256 << 20
            }
        }
    }
#endif
