// SPDX-License-Identifier: Apache-2.0

import ObjectStores
import S3Requests

/// What a store answered: the status, the headers that matter, and all of the body.
struct S3Answer: Hashable, Sendable {
    var status: Int
    /// The header `etag`; nil if there is none, or several.
    var etag: String?
    /// The body, up to the limit of the caller.
    var body: [UInt8]

    /// The store's own code for an error; empty if the body does not have one.
    var code: String { (try? S3ErrorAnswer(body))?.code ?? "" }

    var reason: ObjectReason { .status(status, code: code) }

    /// The tag of an object; nil if the header is not one that can go back in a request: 1 to 128 visible ASCII characters.
    var tag: ObjectTag? {
        guard let etag, (1...128).contains(etag.utf8.count), etag.utf8.allSatisfy({ (0x21...0x7e).contains($0) }),
            !etag.hasPrefix("W/"), etag != "*", !etag.contains(",")
        else { return nil }
        return ObjectTag(etag)
    }
}

/// What an answer means. Whether a write took effect is said only where the protocol says so.
enum S3Judgement {
    /// Of a conditional write.
    ///
    /// A server error says nothing about the effect: a gateway may have written and failed to say so.
    static func put(_ answer: S3Answer, _ condition: PutCondition) throws(ObjectFault) -> PutOutcome {
        switch answer.status {
        case 200:
            guard let tag = answer.tag else { throw .outcomeUnknown(answer.reason) }
            return .written(tag)
        case 412: return .changed
        // A version of an object that is not there.
        case 404 where answer.code == "NoSuchKey" && condition != .ifAbsent: return .changed
        // Somebody else wrote at the same moment: nothing is said about the condition.
        case 409 where conflicts.contains(answer.code): throw .unavailable(answer.reason)
        case 400 where answer.code == "RequestTimeout": throw .unavailable(answer.reason)
        case 429: throw .unavailable(answer.reason)
        case 400...499, 300...399: throw .refused(answer.reason)
        default: throw .outcomeUnknown(answer.reason)
        }
    }

    /// Of a read.
    static func get(_ answer: S3Answer) throws(ObjectFault) -> StoredObject? {
        switch answer.status {
        case 200:
            guard let tag = answer.tag else { throw .malformedAnswer }
            return StoredObject(bytes: answer.body, tag: tag)
        case 404 where answer.code == "NoSuchKey": return nil
        default: throw failure(answer)
        }
    }

    /// Of a removal.
    static func remove(_ answer: S3Answer) throws(ObjectFault) {
        switch answer.status {
        case 200, 204: return
        case 404 where answer.code == "NoSuchKey": return
        case 500...599: throw .outcomeUnknown(answer.reason)
        default: throw failure(answer)
        }
    }

    /// Of a page of names.
    static func list(_ answer: S3Answer) throws(ObjectFault) -> S3Listing {
        guard answer.status == 200 else { throw failure(answer) }
        do throws(S3AnswerError) { return try S3Listing(answer.body) } catch { throw .malformedAnswer }
    }

    private static let conflicts = ["ConditionalRequestConflict", "OperationAborted"]

    private static func failure(_ answer: S3Answer) -> ObjectFault {
        switch answer.status {
        case 500...599, 429: .unavailable(answer.reason)
        case 400 where answer.code == "RequestTimeout": .unavailable(answer.reason)
        case 300...499: .refused(answer.reason)
        default: .malformedAnswer
        }
    }
}
