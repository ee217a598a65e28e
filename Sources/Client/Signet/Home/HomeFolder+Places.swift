// SPDX-License-Identifier: Apache-2.0

import DeviceKeystores
package import SecretMemory
public import SignetClient

/// The place of the part of an account's keystore that is not in its file.
extension HomeFolder {
    /// A place for this folder's keystore. Files that a chip has wrapped are in `tpm`.
    public func place(_ kind: KeystorePlaceKind) -> any KeystorePlace {
        switch kind {
        case .keyring: KeyringPlace()
        case .tpm: TPMPlace(in: path + "/tpm")
        }
    }

    /// Opens a keystore of this folder, with the place that its header names.
    ///
    /// - Throws: ``KeystoreError``.
    package func open(_ keystore: Keystore, with passphrase: SecretBytes) throws(KeystoreError) -> DeviceSecrets {
        try keystore.open(with: passphrase, at: keystore.place.map(place))
    }

    /// Opens a keystore of this folder with the key that its passphrase gave before.
    ///
    /// - Throws: ``KeystoreError``.
    package func open(_ keystore: Keystore, withKey key: SecretBytes) throws(KeystoreError) -> DeviceSecrets {
        try keystore.open(withKey: key, at: keystore.place.map(place))
    }
}
