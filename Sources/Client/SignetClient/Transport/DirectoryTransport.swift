/// Carries one request to a directory and its answer back. It decides nothing.
public protocol DirectoryTransport: Sendable {
    /// Sends a request and waits for the whole answer.
    ///
    /// - Throws: ``TransportError``.
    func send(_ request: DirectoryRequest) async throws(TransportError) -> DirectoryResponse
}

/// A request of the directory's HTTP interface.
public struct DirectoryRequest: Hashable, Sendable {
    /// `GET` or `POST`.
    public let method: String
    /// The path, from its first slash, without a query.
    public let path: String
    /// Further header fields.
    public let fields: [Field]
    /// The body, empty for `GET`.
    public let body: [UInt8]
    /// What the answer may be.
    public let limit: ResponseLimit

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
    public init(method: String, path: String, fields: [Field] = [], body: [UInt8] = [], limit: ResponseLimit) {
        self.method = method
        self.path = path
        self.fields = fields
        self.body = body
        self.limit = limit
    }
}

/// An answer, complete and within its limit.
public struct DirectoryResponse: Hashable, Sendable {
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
