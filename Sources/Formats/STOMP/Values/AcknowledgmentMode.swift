// SPDX-License-Identifier: Apache-2.0

/// What the server takes for "dealt with" on a subscription.
///
/// Spec: STOMP 1.2, "SUBSCRIBE ack Header".
public enum AcknowledgmentMode: Hashable, Sendable, CaseIterable {
    /// Sent is dealt with: `auto`, which is also what a missing header means.
    case auto
    /// An ACK is for its message and all before it: `client`.
    case cumulative
    /// An ACK is for its message: `client-individual`.
    case individual

    /// The header's value.
    public var bytes: [UInt8] {
        switch self {
        case .auto: Array("auto".utf8)
        case .cumulative: Array("client".utf8)
        case .individual: Array("client-individual".utf8)
        }
    }

    /// Reads a header's value; nil if it means nothing.
    public init?(_ bytes: [UInt8]) {
        guard let mode = Self.allCases.first(where: { $0.bytes == bytes }) else { return nil }
        self = mode
    }
}
