// SPDX-License-Identifier: Apache-2.0

import Crypto
public import KeyTransparency
public import NoteLog

/// A device that a note's key may be encrypted to. It comes out of a verified answer of the directory and from nowhere
/// else, so that no server chooses the readers.
///
/// Security: that the keys are those of the person meant, and not new ones that their account was given, is the decision
/// before: `PeerTrust`. Make no recipient of a lookup that the user has not accepted.
public struct WrapRecipient: Hashable, Sendable {
    /// Whose device.
    public let author: Author
    let keys: ListedKeys

    /// `DeviceKeys.hash` of the device, 32 bytes: what a client pins.
    public var keysHash: [UInt8] { keys.hash }

    /// All devices of a person.
    ///
    /// Security: a device whose X-Wing key the lookup did not bring gets no wrap of that kind, and the sealing throws.
    public static func devices(of lookup: VerifiedLookup) -> [WrapRecipient] {
        lookup.state.devices.map { device in
            WrapRecipient(
                author: Author(handle: lookup.handle, device: device.keys.signing), keys: device.keys)
        }
    }

    private init(author: Author, keys: ListedKeys) {
        self.author = author
        self.keys = keys
    }
}
