// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import SignetAPI

/// JSON exists in this layer only, for the eCall client and the friend routes.
///
/// Fields that are not known are ignored, so that a client of a later version can talk to this server; what is
/// known must be there and of the right type.
enum JSONBody {
    /// Reads an eCall lookup: exactly one of the two lists, with one to ``SignetAPI/ECallRequest/maximumCount``
    /// elements.
    static func eCallRequest(_ body: [UInt8]) throws(Refusal) -> ECallRequest {
        let request: ECallRequest = try decode(body)
        let lists = [request.publicKeyHashs, request.targets].compactMap { $0 }
        guard lists.count == 1, (1...ECallRequest.maximumCount).contains(lists[0].count) else {
            throw Refusal(.badRequest)
        }
        return request
    }

    /// Reads the handle of a friend request, in its one spelling.
    static func handle(_ body: [UInt8]) throws(Refusal) -> Handle {
        let request: FriendRequest = try decode(body)
        do { return try Handle(canonical: Array(request.handle.utf8)) } catch { throw Refusal(.badRequest) }
    }

    /// Prints a value, its keys in order.
    static func encode(_ value: some Encodable) throws(Refusal) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do { return Array(try encoder.encode(value)) } catch { throw Refusal(.unavailable) }
    }

    private static func decode<Value: Decodable>(_ body: [UInt8]) throws(Refusal) -> Value {
        do { return try JSONDecoder().decode(Value.self, from: Data(body)) } catch { throw Refusal(.badRequest) }
    }
}
