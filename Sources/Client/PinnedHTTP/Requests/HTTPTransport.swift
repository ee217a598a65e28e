/// Carries one request to a server and its answer back. It decides nothing.
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
    /// Further header fields, their names in lower case. A `user-agent` among them takes the place of ours.
    public let fields: [Field]
    /// The body, empty for `GET`.
    public let body: [UInt8]
    /// What the answer may be.
    public let limit: ResponseLimit
    /// Whether sending it twice is the same as sending it once, so that it may go over a connection that was kept.
    public let mayRepeat: Bool

    /// A header field.
    public struct Field: Hashable, Sendable {
        /// Its name.
        public let name: String
        /// Its value, ASCII.
        public let value: String

        /// A field.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// A request.
    ///
    /// - Parameter mayRepeat: whether sending it twice is the same as sending it once; nil for what is true of its method.
    public init(
        method: String, path: String, fields: [Field] = [], body: [UInt8] = [], limit: ResponseLimit,
        mayRepeat: Bool? = nil
    ) {
        self.mayRepeat = mayRepeat ?? (method == "GET")
        self.method = method
        self.path = path
        self.fields = fields
        self.body = body
        self.limit = limit
    }
}

/// An answer, complete and within its limit.
public struct TransportResponse: Hashable, Sendable {
    /// The HTTP status.
    public let status: Int
    /// The media type, lower-case, without parameters; nil if none was named.
    public let mediaType: String?
    /// How long to wait before another try, in seconds, if the server said so.
    public let retryAfter: UInt64?
    /// The body.
    public let body: [UInt8]

    /// An answer.
    public init(status: Int, mediaType: String?, retryAfter: UInt64? = nil, body: [UInt8]) {
        self.status = status
        self.mediaType = mediaType
        self.retryAfter = retryAfter
        self.body = body
    }
}

/// What an honest answer may be at most, so that a dishonest one is refused before it costs memory.
public struct ResponseLimit: Hashable, Sendable {
    /// The longest body, in bytes.
    public let maximumByteCount: Int
    /// The only media type of a success, lower-case, without parameters; nil when any will do.
    public let mediaType: String?

    /// A limit.
    public init(maximumByteCount: Int, mediaType: String?) {
        self.maximumByteCount = maximumByteCount
        self.mediaType = mediaType
    }

    /// A refusal: one JSON object with one word.
    public static let refusal = ResponseLimit(maximumByteCount: 4096, mediaType: "application/json")
}
