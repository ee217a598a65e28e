// SPDX-License-Identifier: Apache-2.0

import Foundation
import SignetAPI
import Testing

/// What the eCall guide ("Key Transparency (KT) — iOS Implementation Guide") names, as text.
struct GuideNameTests {
    private func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    @Test func keysAreFetchedWhereAndAsTheGuideSays() throws {
        #expect(Route.eCallKeys.method == "POST" && Route.eCallKeys.path == "/api/get-public-keys")
        #expect(try text(ECallRequest(targets: ["bob@example.org"])) == #"{"targets":["bob@example.org"]}"#)
        #expect(try text(ECallRequest(publicKeyHashs: ["aGFzaA=="])) == #"{"publicKeyHashs":["aGFzaA=="]}"#)
        #expect(
            try text(ECallEntry(publicKey: "a", proof: "b", vrfHash: "c"))
                == #"{"proof":"b","publicKey":"a","vrfHash":"c"}"#)
    }

    @Test func aFriendsAnswerHasTheGuidesMember() throws {
        #expect(try text(FriendAnswer(publicKeyHashs: ["aGFzaA=="])) == #"{"publicKeyHashs":["aGFzaA=="]}"#)
    }
}
