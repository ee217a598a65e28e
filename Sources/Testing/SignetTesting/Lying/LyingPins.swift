// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
package import SignetAPI
package import SignetServer

/// A lie by a dishonest server about its own TLS pins.
public enum PinsLie: String, CaseIterable, Hashable, Sendable {
    /// Every request is answered with earlier pins instead of the newest.
    case oldPins = "old-pins"
    /// Requests get no answer.
    case withheldPins = "withheld-pins"
    /// Every request is told to come back later.
    case anotherEpoch = "another-epoch"

    /// The lie in a few words.
    public var summary: String {
        switch self {
        case .oldPins: "the pins before the newest"
        case .withheldPins: "no answer"
        case .anotherEpoch: "always \"later\""
        }
    }
}

/// The pins of a real server, of which something else is shown. It is a test product and part of no server.
package struct LyingPins: PartAnswering {
    private let truth: PinsAnswering
    private let lie: PinsLie

    /// Puts a lie in front of pins.
    package init(_ truth: PinsAnswering, lie: PinsLie) {
        self.truth = truth
        self.lie = lie
    }

    package var routes: [any PartRoute] { truth.routes }

    package func answer(_ request: PartRequest) async throws(PartRefusal) -> [UInt8] {
        switch lie {
        case .withheldPins: throw PartRefusal(.notFound)
        case .anotherEpoch: return PinsAnswer.anotherEpoch.encoded
        case .oldPins:
            let body = try await truth.answer(request)
            guard case .pins(let newest)? = try? PinsAnswer(decoding: body),
                let old = await truth.note(version: newest.place.version - 1)
            else { return body }
            return PinsAnswer.pins(LoggedPins(note: old, place: newest.place)).encoded
        }
    }

    package func keepUp() async { await truth.keepUp() }
    package func close() async { await truth.close() }
}
