// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import HummingbirdCore
import NIOCore

/// Reads a request's body up to a limit, however its length is declared.
struct BodyReader {
    private let limit: Int
    private let length: Int?
    private let announced: Announcement
    private var parts: RequestBody.AsyncIterator
    private var isRead = false

    /// How much of an unwanted body is read and thrown away, so that the client sees the refusal before the
    /// connection closes, in bytes.
    private static let lingerByteCount = 1 << 20

    init(_ headers: HTTPFields, _ body: RequestBody, limit: Int) {
        self.limit = limit
        length = headers[.contentLength].flatMap { Int($0) }
        announced = Announcement(headers, limit)
        parts = body.makeAsyncIterator()
    }

    /// Whether there is a body of unknown or excessive length that was not read to its end.
    var isUnwanted: Bool { !isRead && announced != .short }

    /// The most bytes that ``read()`` may take in.
    var maximumByteCount: Int { announced == .unknown ? limit : min(limit, length ?? 0) }

    /// The whole body, or nil if it is longer than the limit; then no more than that was taken in.
    mutating func read() async throws -> [UInt8]? {
        if announced == .long { return nil }
        var body: [UInt8] = []
        while let part = try await parts.next() {
            guard body.count + part.readableBytes <= limit else { return nil }
            body += part.readableBytesView
        }
        isRead = true
        return body
    }

    /// Reads on for a while and throws it away.
    ///
    /// - Returns: whether that was all of the rest.
    @discardableResult mutating func discard() async throws -> Bool {
        var count = 0
        while !isRead, count <= Self.lingerByteCount {
            if let part = try await parts.next() { count += part.readableBytes } else { isRead = true }
        }
        return isRead
    }

    /// What the headers say about the length.
    private enum Announcement {
        case short, long, unknown

        init(_ headers: HTTPFields, _ limit: Int) {
            if let text = headers[.contentLength] {
                self = Int(text).map { $0 <= limit } ?? false ? .short : .long
            } else {
                self = headers.contains(.transferEncoding) ? .unknown : .short
            }
        }
    }
}
