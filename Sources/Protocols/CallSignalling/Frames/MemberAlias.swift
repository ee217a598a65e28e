// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto

/// The name of a member in transit: different in each call, and meaningless to an observer who does not know the call.
///
/// Wire form: 8 bytes.
///
/// Spec: the first 8 bytes of SHA-256("signet-call-alias/v1" ‖ call ‖ device).
public struct MemberAlias: Hashable, Sendable {
    /// 8 bytes.
    public let bytes: [UInt8]

    /// An alias from 8 bytes; nil for another length.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == 8 else { return nil }
        self.bytes = bytes
    }

    /// A device's alias in a call.
    public init(of device: CallDevice, in call: CallID) {
        var writer = ByteWriter()
        writer.write("signet-call-alias/v1")
        writer.write(call.bytes)
        writer.write(device.signingKey)
        bytes = Array(SHA256.hash(data: writer.bytes).prefix(8))
    }
}
