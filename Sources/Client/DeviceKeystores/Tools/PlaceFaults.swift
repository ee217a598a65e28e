// SPDX-License-Identifier: Apache-2.0

import DeviceIdentity
import SignetClient

extension KeystorePlace {
    /// Says what a store could not do as a keystore's place says it.
    func asking<Value>(
        _ body: () throws(PrivateKeyStoreError) -> Value
    ) throws(KeystoreError) -> Value {
        do throws(PrivateKeyStoreError) { return try body() } catch {
            throw KeystoreError(error, of: kind)
        }
    }
}

extension KeystoreError {
    init(_ error: PrivateKeyStoreError, of kind: KeystorePlaceKind) {
        switch error {
        // The chip refuses a PIN that another passphrase made; a keyring is locked as a whole.
        case .locked where kind == .tpm: self = .wrongPassphraseOrDamaged
        case .locked: self = .place(kind, .locked)
        case .lockedOut: self = .place(kind, .lockedOut)
        case .absent: self = .place(kind, .absent)
        case .noSuchKey, .invalidated: self = .place(kind, .nothingThere)
        case .damaged: self = .place(kind, .damaged)
        case .nameTaken, .unsupported, .invalidInput, .busy, .unavailable: self = .place(kind, .failed)
        }
    }
}
