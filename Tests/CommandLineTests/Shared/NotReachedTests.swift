// SPDX-License-Identifier: Apache-2.0

import PinnedHTTP
import SignetClient
import Testing

@testable import SignetCommand

/// What a person is told when a proxy answers for the directory.
struct NotReachedTests {
    private static let url = "https://directory.example.org"

    @Test(arguments: [502, 503, 504]) func aProxyThatDoesNotReachTheDirectoryAccusesNobody(status: Int) {
        let error = ClientError.notReached(status: status, retryAfter: nil)
        for sentence in [error.sentence(Self.url), TransportError.notUpgraded(status: status).sentence(Self.url)] {
            #expect(sentence.what.contains("between here and \(Self.url)"), "\(sentence.what)")
            #expect(sentence.what.contains("cannot reach it at the moment (HTTP status \(status))"))
            #expect(sentence.remedy.hasPrefix("Try again"))
        }
        #expect(error.family.status == .environment)
        #expect(TransportError.notUpgraded(status: status).family.status == .environment)
    }

    @Test func aProxyThatTakesNoMoreRequestsIsNamed() {
        let sentence = ClientError.notReached(status: 429, retryAfter: 3).sentence(Self.url)
        #expect(sentence.what.contains("takes no more requests for now (HTTP status 429)"), "\(sentence.what)")
    }

    @Test func anyOtherStatusIsNoDirectorys() {
        let sentence = ClientError.unexpectedStatus(500).sentence(Self.url)
        #expect(sentence.what.contains("which it never should"), "\(sentence.what)")
        #expect(TransportError.notUpgraded(status: 426).sentence(Self.url).what.contains("does not open a WebSocket"))
    }
}
