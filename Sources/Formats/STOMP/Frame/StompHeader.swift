// SPDX-License-Identifier: Apache-2.0

/// The name of a header, as bytes of UTF-8. Upper and lower case differ.
public struct StompHeaderName: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The name, not escaped.
    public let bytes: [UInt8]

    /// A name from its bytes.
    public init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// A name from a literal.
    public init(stringLiteral text: StaticString) {
        bytes = text.withUTF8Buffer { Array($0) }
    }

    /// Versions that a client speaks: `accept-version`.
    public static let acceptVersion: StompHeaderName = "accept-version"
    /// Which acknowledgments a subscription wants, and the acknowledged message: `ack`.
    public static let ack: StompHeaderName = "ack"
    /// Length of the body in bytes: `content-length`. Part of the framing, never of ``StompFrame/headers``.
    public static let contentLength: StompHeaderName = "content-length"
    /// What the body is: `content-type`.
    public static let contentType: StompHeaderName = "content-type"
    /// Where a message goes: `destination`.
    public static let destination: StompHeaderName = "destination"
    /// What both sides promise: `heart-beat`.
    public static let heartBeat: StompHeaderName = "heart-beat"
    /// The virtual host: `host`.
    public static let host: StompHeaderName = "host"
    /// Of a subscription or an acknowledgment: `id`.
    public static let id: StompHeaderName = "id"
    /// Who connects: `login`.
    public static let login: StompHeaderName = "login"
    /// A short reason, in ERROR: `message`.
    public static let message: StompHeaderName = "message"
    /// The server's name for a message: `message-id`.
    public static let messageID: StompHeaderName = "message-id"
    /// The secret of who connects: `passcode`.
    public static let passcode: StompHeaderName = "passcode"
    /// Asks for a RECEIPT: `receipt`.
    public static let receipt: StompHeaderName = "receipt"
    /// Which frame a RECEIPT is for: `receipt-id`.
    public static let receiptID: StompHeaderName = "receipt-id"
    /// The connection's name: `session`.
    public static let session: StompHeaderName = "session"
    /// For which subscription a MESSAGE is: `subscription`.
    public static let subscription: StompHeaderName = "subscription"
    /// Of which transaction a frame is part: `transaction`.
    public static let transaction: StompHeaderName = "transaction"
    /// The version that the server chose: `version`.
    public static let version: StompHeaderName = "version"
}

/// One header of a frame.
public struct StompHeader: Hashable, Sendable {
    /// Its name.
    public let name: StompHeaderName
    /// Its value, as bytes of UTF-8, not escaped.
    public let value: [UInt8]

    /// A header.
    public init(_ name: StompHeaderName, _ value: [UInt8]) {
        self.name = name
        self.value = value
    }
}
