// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
public import VRF

/// The log entry for one device key: the leaf of the eCall client, byte for byte.
///
/// `base64(VRF hash) LF base64(public key) LF`: 88 + 1 + 44 + 1 = 134 bytes, the hash being 64 bytes and
/// the Ed25519 key 32.
///
/// Spec: eCall Key Transparency guide, "Step 3: Compute Leaf Hash".
public struct DeviceLeaf: Hashable, Sendable {
    /// The hidden label of the owner.
    public let label: VRFHash
    /// The device's Ed25519 signing key, 32 bytes.
    public let publicKey: [UInt8]

    /// A leaf of a device of this label; nil unless the key is 32 bytes.
    public init?(label: VRFHash, publicKey: [UInt8]) {
        guard publicKey.count == 32 else { return nil }
        self.label = label
        self.publicKey = publicKey
    }

    /// The leaf of a device whose keys have been checked.
    public init(label: VRFHash, device: DeviceKeys) {
        self.init(label: label, device: device.listed)
    }

    /// The leaf of a device as a state lists it.
    public init(label: VRFHash, device: ListedKeys) {
        self.label = label
        publicKey = device.signing
    }

    /// The raw log entry, 134 bytes.
    public var entry: [UInt8] {
        Base64.encode(label.bytes) + [UInt8(ascii: "\n")] + Base64.encode(publicKey)
            + [UInt8(ascii: "\n")]
    }

    /// Reads a raw log entry.
    ///
    /// - Throws: ``LogEntryError``: not exactly what ``entry`` prints.
    public init(decoding entry: [UInt8]) throws(LogEntryError) {
        var reader = FormatReader<LogEntryError>(entry)
        let label = VRFHash(try reader.base64(maximumLength: 88))
        let publicKey = try reader.base64(maximumLength: 44)
        try reader.end()
        guard let label, publicKey.count == 32 else { throw .invalidField }
        self.label = label
        self.publicKey = publicKey
    }
}
