// SPDX-License-Identifier: Apache-2.0

/// Reads frames and heart-beats from a stream of bytes, however the stream is cut into pieces.
///
/// Looks at every byte once, and holds at most one frame that is not complete. The first thing that is wrong ends it:
/// after a fault there is no telling where the next frame begins.
///
/// Spec: STOMP 1.2. Stricter in three points: no zero byte in a header, one `content-length` in a frame, and no frame
/// without the headers that its command demands.
public struct StompDecoder: Sendable {
    /// How much a peer may make us hold.
    public let limits: StompLimits
    private var input = DecoderInput()
    private var state = State.between
    private var failure: StompDecodingError?

    private enum State {
        case between
        case head(FrameHead)
        case body(FrameHead)
    }

    /// An item of a stream.
    public enum Element: Hashable, Sendable {
        /// A complete frame.
        case frame(StompFrame)
        /// A line end between frames.
        case heartBeat
    }

    /// A decoder at the start of a connection.
    public init(limits: StompLimits = StompLimits()) { self.limits = limits }

    /// Adds bytes that have arrived. Call ``next()`` until it returns nil before adding more.
    public mutating func append(_ bytes: some Collection<UInt8>) {
        if failure == nil { input.append(bytes) }
    }

    /// The next element, or nil until more bytes arrive.
    ///
    /// - Throws: ``StompDecodingError``, and the same again from then on: answer with ERROR if you are the server, and
    ///   close the connection.
    public mutating func next() throws(StompDecodingError) -> Element? {
        if let failure { throw failure }
        do {
            return try step()
        } catch {
            failure = error
            input = DecoderInput()
            throw error
        }
    }

    private mutating func step() throws(StompDecodingError) -> Element? {
        while true {
            switch state {
            case .between:
                guard let byte = input.first else { return nil }
                guard byte == DecoderInput.lineFeed || byte == DecoderInput.carriageReturn else {
                    state = .head(FrameHead())
                    continue
                }
                return try input.lineEnd() ? .heartBeat : nil
            case .head(var head):
                let isComplete = try readHead(&head)
                state = isComplete ? .body(head) : .head(head)
                if !isComplete { return nil }
            case .body(let head):
                guard let body = try readBody(head) else { return nil }
                state = .between
                return .frame(try head.frame(body: body))
            }
        }
    }

    /// Reads lines up to the empty one; returns false if more bytes are needed.
    private mutating func readHead(_ head: inout FrameHead) throws(StompDecodingError) -> Bool {
        while let line = try input.line(after: head.byteCount, maximum: limits.headByteCount) {
            if try head.add(line, limits) { return true }
        }
        return false
    }

    private mutating func readBody(_ head: FrameHead) throws(StompDecodingError) -> [UInt8]? {
        if !head.mayHaveBody && (head.contentLength ?? 0) > 0 { throw head.bodyFault }
        guard let length = head.contentLength else {
            let maximum = head.mayHaveBody ? limits.bodyByteCount : 0
            do {
                return try input.bytesBeforeZero(maximumByteCount: maximum)
            } catch {
                throw head.mayHaveBody ? error : head.bodyFault
            }
        }
        guard length <= limits.bodyByteCount else { throw .bodyTooLong(maximum: limits.bodyByteCount) }
        return try input.bytes(Int(length))
    }
}

/// How much a peer may make a decoder hold.
public struct StompLimits: Hashable, Sendable {
    /// Command, headers and the empty line, in bytes.
    public let headByteCount: Int
    /// Headers, `content-length` included.
    public let headerCount: Int
    /// The body, in bytes.
    public let bodyByteCount: Int

    /// Limits; 8 KiB, 64 headers and 256 KiB unless told.
    public init(headByteCount: Int = 8192, headerCount: Int = 64, bodyByteCount: Int = 262_144) {
        self.headByteCount = headByteCount
        self.headerCount = headerCount
        self.bodyByteCount = bodyByteCount
    }
}

/// Why a stream is not STOMP 1.2, or more of it than we take. The peer misbehaved; a retry cannot help.
public enum StompDecodingError: Error, Hashable, Sendable {
    /// The first line is not a command.
    case unknownCommand
    /// Command and headers are longer than this, in bytes.
    case headTooLong(maximum: Int)
    /// There are more headers than this.
    case tooManyHeaders(maximum: Int)
    /// The body is longer than this, in bytes.
    case bodyTooLong(maximum: Int)
    /// CR other than before LF.
    case strayCarriageReturn
    /// A header line without a colon.
    case noColon
    /// A colon in a value that is not escaped.
    case unescapedColon
    /// A backslash before a letter that has no meaning.
    case undefinedEscape
    /// `content-length` twice.
    case repeatedContentLength
    /// `content-length` is not a decimal number of one spelling.
    case invalidContentLength
    /// The body does not end with a zero byte where `content-length` says.
    case missingEnd
    /// Complete, but not a frame.
    case frame(StompFrameError)
}
