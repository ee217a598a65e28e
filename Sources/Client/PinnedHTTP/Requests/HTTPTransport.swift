// SPDX-License-Identifier: Apache-2.0

/// Carries one request to a server and returns its answer. It makes no decisions.
public protocol HTTPTransport: Sendable {
    /// Sends a request and waits for the whole answer.
    ///
    /// - Throws: ``TransportError``.
    func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse
}

/// A request to a server.
public struct TransportRequest: Hashable, Sendable {
    /// `GET` or `POST`.
    public let method: String
    /// The path, from its first slash, without a query.
    public let path: String
    /// Further header fields, with names in lower case. A `user-agent` among them replaces ours.
    public let fields: [Field]
    /// The body, empty for `GET`.
    public let body: [UInt8]
    /// The limit for the answer.
    public let limit: ResponseLimit
    /// Whether sending the request twice has the same effect as sending it once, so that it may use a kept connection.
    public let mayRepeat: Bool
    /// How long the server may keep the request before it begins to answer. The deadlines for the answer are that much later.
    public let longestWait: Duration

    /// A header field.
    public struct Field: Hashable, Sendable {
        /// The field's name.
        public let name: String
        /// The field's value, ASCII.
        public let value: String

        /// Makes a field.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Makes a request.
    ///
    /// - Parameters:
    ///   - mayRepeat: whether sending the request twice has the same effect as sending it once; nil for what its method
    ///     implies.
    ///   - longestWait: how long the server may keep the request before it begins to answer.
    public init(
        method: String, path: String, fields: [Field] = [], body: [UInt8] = [], limit: ResponseLimit,
        mayRepeat: Bool? = nil, longestWait: Duration = .zero
    ) {
        self.longestWait = longestWait
        self.mayRepeat = mayRepeat ?? (method == "GET")
        self.method = method
        self.path = path
        self.fields = fields
        self.body = body
        self.limit = limit
    }
}

/// A complete answer within its limit.
public struct TransportResponse: Hashable, Sendable {
    /// The HTTP status.
    public let status: Int
    /// The media type, in lower case and without parameters; nil if none was named.
    public let mediaType: String?
    /// How long to wait before another attempt, in seconds, if the server said so.
    public let retryAfter: UInt64?
    /// The body.
    public let body: [UInt8]

    /// Makes an answer.
    public init(status: Int, mediaType: String?, retryAfter: UInt64? = nil, body: [UInt8]) {
        self.status = status
        self.mediaType = mediaType
        self.retryAfter = retryAfter
        self.body = body
    }

    /// Whether a status says that a server, or a proxy before it, cannot answer for now: 429, 502, 503 or 504.
    public static func mayPass(_ status: Int) -> Bool { [429, 502, 503, 504].contains(status) }
}

/// The limits of an honest answer, so that a dishonest one is refused before it takes memory.
public struct ResponseLimit: Hashable, Sendable {
    /// The longest body, in bytes.
    public let maximumByteCount: Int
    /// The only media type of a success, in lower case and without parameters; nil if any is accepted.
    public let mediaType: String?

    /// Makes a limit.
    public init(maximumByteCount: Int, mediaType: String?) {
        self.maximumByteCount = maximumByteCount
        self.mediaType = mediaType
    }

    /// The limit of a refusal: one JSON object with one word.
    public static let refusal = ResponseLimit(maximumByteCount: 4096, mediaType: "application/json")
}
