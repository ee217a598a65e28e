// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// `signetd config check` finds what `signetd run` would refuse, so that a restart after it is no surprise.
@Suite(.serialized) struct SettingsTogetherTests {
    private static let contradictions = [
        ("plain-http = true\nbind = 0.0.0.0:8080\n", "--plain-http: only on 127.0.0.1"),
        ("plain-http = true\nbind = 127.0.0.1:8080\n", "--plain-http: name the proxy's address with --behind"),
        ("bind = unix:/run/signet/server.socket\n", "--bind unix: goes with --plain-http only"),
        ("open-metrics = true\nadmin-listen = 127.0.0.1:9464\n", "--open-metrics and --admin-listen"),
    ]

    private func check(_ town: Town, _ text: String) async throws -> Exit {
        try town.write(Array("data = server\n".utf8) + text.utf8, to: "signetd.conf")
        return try await town.signetd("config", "check", "--config", "signetd.conf")
    }

    @Test func whatRunRefusesIsWrongInTheCheckToo() async throws {
        try await Town.with { town in
            for (text, sentence) in Self.contradictions {
                let checked = try await check(town, text)
                expect(78, checked)
                #expect(checked.lines.count == 1 && checked.output.contains("wrong: \(sentence)"), "\(checked.output)")
                let run = try await town.signetd("run", "--config", "signetd.conf")
                expect(64, run)
                #expect(run.complaint.contains(sentence), "\(run.errors)")
            }
        }
    }

    @Test func theSameAddressForClientsAndOperatorsIsWrong() async throws {
        try await Town.with { town in
            let checked = try await check(town, "bind = 127.0.0.1:8443\nadmin-listen = 127.0.0.1:8443\n")
            expect(78, checked)
            #expect(checked.output.contains("one address cannot be both"), "\(checked.output)")
            expect(0, try await check(town, "bind = 127.0.0.1:0\nadmin-listen = 127.0.0.1:0\n"))
            expect(0, try await check(town, "bind = unix:/run/signet/server.socket\nplain-http = true\n"))
        }
    }
}
