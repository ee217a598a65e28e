// SPDX-License-Identifier: Apache-2.0

/// The first line of a frame.
///
/// Spec: STOMP 1.2, "Augmented BNF".
public enum StompCommand: Hashable, Sendable, CaseIterable {
    /// A client begins: CONNECT.
    case connect
    /// A client begins, with a word that no web server takes for HTTP: STOMP.
    case stomp
    /// The server accepts: CONNECTED.
    case connected
    /// A client publishes: SEND.
    case send
    /// A client wants what is published: SUBSCRIBE.
    case subscribe
    /// A client has enough: UNSUBSCRIBE.
    case unsubscribe
    /// A client has dealt with a message: ACK.
    case ack
    /// A client could not: NACK.
    case nack
    /// A client begins a transaction: BEGIN.
    case begin
    /// A client carries it out: COMMIT.
    case commit
    /// A client drops it: ABORT.
    case abort
    /// A client leaves: DISCONNECT.
    case disconnect
    /// The server delivers: MESSAGE.
    case message
    /// The server has dealt with a frame: RECEIPT.
    case receipt
    /// The server gives up on the connection: ERROR.
    case error

    /// The word, in ASCII.
    public var bytes: [UInt8] { Array(word.utf8) }

    /// Whether a body may follow.
    public var mayHaveBody: Bool { self == .send || self == .message || self == .error }

    /// Whether header bytes are escaped. The two commands of the handshake are read as STOMP 1.0 wrote them.
    public var escapesHeaders: Bool { self != .connect && self != .connected }

    /// The headers without which the frame means nothing.
    public var requiredHeaders: [StompHeaderName] {
        switch self {
        case .connect, .stomp: [.acceptVersion, .host]
        case .connected: [.version]
        case .send: [.destination]
        case .subscribe: [.destination, .id]
        case .unsubscribe, .ack, .nack: [.id]
        case .begin, .commit, .abort: [.transaction]
        case .message: [.destination, .messageID, .subscription]
        case .receipt: [.receiptID]
        case .disconnect, .error: []
        }
    }

    init?(_ bytes: some Collection<UInt8>) {
        guard let command = Self.allCases.first(where: { bytes.elementsEqual($0.word.utf8) }) else { return nil }
        self = command
    }

    private var word: String {
        switch self {
        case .connect: "CONNECT"
        case .stomp: "STOMP"
        case .connected: "CONNECTED"
        case .send: "SEND"
        case .subscribe: "SUBSCRIBE"
        case .unsubscribe: "UNSUBSCRIBE"
        case .ack: "ACK"
        case .nack: "NACK"
        case .begin: "BEGIN"
        case .commit: "COMMIT"
        case .abort: "ABORT"
        case .disconnect: "DISCONNECT"
        case .message: "MESSAGE"
        case .receipt: "RECEIPT"
        case .error: "ERROR"
        }
    }
}
