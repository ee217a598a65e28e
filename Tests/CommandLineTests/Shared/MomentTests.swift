// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import SignetCommand

/// Times as a person reads them. The expected ones are Foundation's, or the examples of RFC 3339.
struct MomentTests {
    /// RFC 3339, section 5.8: 1996-12-19T16:39:57-08:00 is 1996-12-20T00:39:57Z, and 1937-01-01T12:00:27.87+00:20 has minutes.
    @Test func aTimeIsLocalAndNamesItsZone() {
        #expect(Moment.date(851_042_397, ahead: -8 * 3600) == "1996-12-19 16:39:57 -08:00")
        #expect(Moment.date(851_042_397, ahead: 0) == "1996-12-20 00:39:57 UTC")
        #expect(Moment.date(851_042_397, ahead: 20 * 60) == "1996-12-20 00:59:57 +00:20")
    }

    @Test func aTimeOutsideOfTheCalendarIsStillPrinted() {
        #expect(Moment.date(.max, ahead: 3600) == "\(UInt64.max) s after 1970")
        #expect(Moment.date(0, ahead: -3600) == "0 s after 1970")
    }

    /// Zones as POSIX writes them, which need no table of zones.
    @Test(arguments: [("IST-5:30", 19_800, "+05:30"), ("MST7", -25_200, "-07:00"), ("UTC0", 0, "UTC")])
    func theProgramPrintsTheZoneOfItsEnvironment(zone: String, ahead: Int, suffix: String) async throws {
        try await Town.withServer { town, _ in
            let environment = ["TZ": zone]
            let facts = try await town.signet("alice", "devices", "list", "--json", environment: environment)
            let devices = try #require(try facts.object()["devices"] as? [[String: Any]])
            let time = try #require(devices.first?["addedAt"] as? TimeInterval, "in JSON it stays seconds since 1970")
            let formatter = DateFormatter()
            formatter.locale = Locale(identifier: "en_US_POSIX")
            formatter.timeZone = TimeZone(secondsFromGMT: ahead)
            formatter.dateFormat = "yyyy-MM-dd HH:mm:ss"
            let words = "added \(formatter.string(from: Date(timeIntervalSince1970: time))) \(suffix)"
            let exit = try await town.signet("alice", "devices", "list", environment: environment)
            #expect(exit.output.contains(words), "\(exit.output)")
        }
    }
}
