// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import NIOCore
import NIOHTTP1
import SignetAPI

/// An answer before it becomes HTTP.
struct Answer {
    var status: HTTPResponse.Status
    var mediaType: String
    var body: [UInt8]
    var cacheControl = "no-store"
    var headers: [(HTTPField.Name, String)] = []
    /// Whether the connection ends with it.
    var isLast = false

    init(status: HTTPResponse.Status = .ok, mediaType: String, body: [UInt8]) {
        self.status = status
        self.mediaType = mediaType
        self.body = body
    }

    static func native(_ body: [UInt8]) -> Answer { Answer(mediaType: Route.nativeMediaType, body: body) }
    static func json(_ body: [UInt8]) -> Answer { Answer(mediaType: jsonMediaType, body: body) }

    /// The newest checkpoint, a signed note.
    static func checkpoint(_ note: [UInt8]) -> Answer {
        var answer = Answer(mediaType: textMediaType, body: note)
        answer.cacheControl = "no-cache"
        return answer
    }

    /// A tile or an entry bundle, which never changes.
    static func tile(_ bytes: [UInt8]) -> Answer {
        var answer = Answer(mediaType: "application/octet-stream", body: bytes)
        answer.cacheControl = "public, max-age=31536000, immutable"
        return answer
    }

    static func text(_ body: String) -> Answer {
        Answer(mediaType: textMediaType, body: Array(body.utf8))
    }

    /// A refusal. The body is written out, not encoded: the code has no characters that JSON escapes.
    static func refusal(_ code: ErrorCode) -> Answer {
        let body = Array("{\"error\":\"\(code.rawValue)\"}".utf8)
        var answer = Answer(status: code.status, mediaType: jsonMediaType, body: body)
        switch code {
        case .notSigned, .wrongTime, .replayed:
            answer.headers.append((.wwwAuthenticate, RequestSignature.headerName))
        case .unavailable, .unwitnessed, .behind: answer.headers.append((.retryAfter, "1"))
        default: break
        }
        return answer
    }

    /// A refusal that says after how many nanoseconds the request may come again.
    static func tooManyRequests(after nanoseconds: UInt64) -> Answer {
        var answer = refusal(.tooManyRequests)
        answer.headers.append((.retryAfter, "\(max(1, (nanoseconds + 999_999_999) / 1_000_000_000))"))
        return answer
    }

    static func methodNotAllowed(allowed: String) -> Answer {
        var answer = refusal(.notFound)
        answer.status = .methodNotAllowed
        answer.headers.append((.allow, allowed))
        return answer
    }

    /// The answer's head.
    ///
    /// - Parameters:
    ///   - date: the `Date` header.
    ///   - isLast: whether the connection ends with it.
    func response(at date: String, isLast: Bool) -> HTTPResponse {
        var fields = HTTPFields()
        for (name, value) in self.fields(at: date, isLast: isLast) { fields[name] = value }
        return HTTPResponse(status: status, headerFields: fields)
    }

    /// The same head, as NIO writes it to a connection that goes on.
    func head(at date: String) -> HTTPResponseHead {
        HTTPResponseHead(
            version: .http1_1, status: .init(statusCode: status.code, reasonPhrase: status.reasonPhrase),
            headers: HTTPHeaders(fields(at: date, isLast: false).map { ($0.rawName, $1) }))
    }

    /// Head and body in one buffer, as HTTP/1.1 has them on a connection that goes on (RFC 9112, sections 2.1 and 4).
    func encoded(at date: String, by allocator: ByteBufferAllocator) -> ByteBuffer {
        var bytes = allocator.buffer(capacity: Self.headByteCount + body.count)
        bytes.writeString("HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\n")
        for (name, value) in fields(at: date, isLast: false) {
            bytes.writeString(name.rawName)
            bytes.writeStaticString(": ")
            bytes.writeString(value)
            bytes.writeStaticString("\r\n")
        }
        bytes.writeStaticString("\r\n")
        bytes.writeBytes(body)
        return bytes
    }

    /// More than the head of an answer from memory has, so that its buffer does not grow.
    private static let headByteCount = 384

    private func fields(at date: String, isLast: Bool) -> [(HTTPField.Name, String)] {
        [
            (.contentType, mediaType), (.contentLength, "\(body.count)"), (.cacheControl, cacheControl),
            (.xContentTypeOptions, "nosniff"), (.date, date),
        ] + (isLast ? [(.connection, "close")] : []) + headers
    }

    static let textMediaType = "text/plain; charset=utf-8"
    private static let jsonMediaType = "application/json"
}

extension ErrorCode {
    /// The HTTP status that goes with the word.
    var status: HTTPResponse.Status {
        switch self {
        case .badRequest: .badRequest
        case .tooLarge: .contentTooLarge
        case .notSigned, .wrongTime, .replayed: .unauthorized
        case .notYourAccount, .possessionNotProven, .suspended, .notInvited, .tokenNeeded, .tokenRefused, .codeSent,
            .codeRefused, .domainClosed:
            .forbidden
        case .handleTaken, .versionConflict, .keyInUse, .stepTooOld, .released: .conflict
        case .notFound: .notFound
        case .tooManyRequests: .tooManyRequests
        case .unavailable, .unwitnessed, .notYet, .behind: .serviceUnavailable
        }
    }
}
