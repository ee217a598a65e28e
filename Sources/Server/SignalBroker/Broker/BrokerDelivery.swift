// SPDX-License-Identifier: Apache-2.0

/// Bytes for a connection, in pieces: what goes to many has one body, which they share.
public struct BrokerDelivery: Hashable, Sendable {
    /// In order.
    public let pieces: [[UInt8]]

    /// Bytes of one connection alone.
    public init(_ bytes: [UInt8]) { pieces = [bytes] }

    init(head: [UInt8], sharing body: [UInt8]) { pieces = [head, body, [0]] }

    /// All of them, in bytes.
    public var byteCount: Int { pieces.reduce(0) { $0 + $1.count } }

    /// All of them.
    public var bytes: [UInt8] { pieces.count == 1 ? pieces[0] : Array(pieces.joined()) }
}
