// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SignetServer

/// When a front end that has not come as far as others says that it is not ready, and when it falls silent.
@Suite struct FrontEndLagTests {
    @Test(
        arguments: [
            (0, .ready), (5, .ready), (6, .notReady), (60, .notReady), (61, .silent),
        ] as [(UInt64, FrontEndLag.Standing)])
    func whatIsMissingForLongerDecides(seconds: UInt64, standing: FrontEndLag.Standing) {
        var lag = FrontEndLag(showing: 10, at: 1000)
        lag.published(11, at: 1000)
        lag.published(11, at: 1000 + seconds)
        #expect(lag.seconds(at: 1000 + seconds) == seconds)
        #expect(lag.standing(at: 1000 + seconds) == standing)
    }

    @Test func whatIsShownIsNotMissing() {
        var lag = FrontEndLag(showing: 10, at: 1000)
        lag.published(11, at: 1000)
        lag.shows(11)
        lag.published(11, at: 1100)
        #expect(lag.standing(at: 1100) == .ready)
    }

    /// A front end that comes on, always three seconds late, is ready: what was first missing has come since.
    @Test func aSteadyShortLagIsNoLongOne() {
        var lag = FrontEndLag(showing: 10, at: 1000)
        for second in UInt64(1)...200 {
            lag.published(10 + second, at: 1000 + second)
            if second > 3 { lag.shows(10 + second - 3) }
            #expect(lag.standing(at: 1000 + second) == .ready)
        }
    }

    /// A front end that stands still while much is published: the oldest that is missing counts.
    @Test func whatIsPublishedLaterDoesNotMakeTheLagShorter() {
        var lag = FrontEndLag(showing: 10, at: 1000)
        for second in UInt64(1)...1000 { lag.published(10 + second, at: 1000 + second) }
        #expect(lag.seconds(at: 2000) == 999)
        lag.shows(1009)
        #expect(lag.seconds(at: 2000) == 0)
    }

    @Test func whoCannotAskWhatIsPublishedFallsSilentToo() {
        let lag = FrontEndLag(showing: 10, at: 1000)
        #expect(lag.standing(at: 1005) == .ready)
        #expect(lag.standing(at: 1006) == .notReady)
        #expect(lag.standing(at: 1061) == .silent)
    }

    @Test func aSmallerSizeThanWasKnownSaysNothing() {
        var lag = FrontEndLag(showing: 10, at: 1000)
        lag.published(12, at: 1000)
        lag.published(11, at: 1003)
        lag.shows(11)
        #expect(lag.seconds(at: 1006) == 6)
    }

    @Test func aClockThatGoesBackMakesNoLag() {
        var lag = FrontEndLag(showing: 10, at: 1000)
        lag.published(11, at: 1000)
        #expect(lag.seconds(at: 900) == 0)
    }
}
