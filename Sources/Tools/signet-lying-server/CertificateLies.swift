// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import KeyPinning
import PinScenarios
import SignetClient

/// `signet-lying-server certificates`
struct CertificateLies: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "certificates",
        abstract: "Run thirty servers, 13 genuine and 17 that intercept, against which any client can be tested.",
        discussion: """
            Each server listens on a port of 127.0.0.1; reach it as localhost. For each row, the folder gets the roots \
            to trust (roots.pem), the policy (policy.pins) and curl's pins (curl.pins; curl checks only the server's \
            own key). A client passes if it reaches the genuine servers and the others never print a request. The \
            command runs until it is interrupted.
            """)

    @Option(help: ArgumentHelp("A new folder for roots and policies.", valueName: "folder"))
    var out: String

    @Option(help: ArgumentHelp("The first of thirty ports; any free ones by default.", valueName: "port"))
    var port: UInt16 = 0

    func run() async throws {
        let scenarios = try PinScenario.all(at: Date())
        var servers: [ScenarioServer] = []
        for (index, scenario) in scenarios.enumerated() {
            try write(scenario)
            let server = try await start(scenario, port == 0 ? 0 : Int(port) + index)
            servers.append(server)
            Self.say("\(scenario.row)\t\(server.port)\t\(scenario.mustPass ? "reach " : "refuse")\t\(scenario.title)")
        }
        Self.say("ready")
        while !Task.isCancelled { try? await Task.sleep(for: .seconds(3600)) }
        for server in servers { await server.stop() }
    }

    private func start(_ scenario: PinScenario, _ port: Int) async throws -> ScenarioServer {
        let (row, mustPass) = (scenario.row, scenario.mustPass)
        return try await ScenarioServer(scenario, port: port) { sighting in
            let secret = sighting.authorization.map { " (\(Self.escaped($0)))" } ?? ""
            Self.say("\(mustPass ? "reached" : "LEAK")\t\(row)\t\(Self.escaped(sighting.request))\(secret)")
        }
    }

    private func write(_ scenario: PinScenario) throws {
        let folder = out + "/" + scenario.row
        try HomeFolder(path: folder).prepare()
        let roots = scenario.anchors.flatMap { PEMBlock.text($0) }
        let pins = scenario.pins.map { $0.key.text(.curl) }.joined(separator: [UInt8(ascii: ";")])
        let policy = try scenario.policy().encoded
        for (name, bytes) in [("roots.pem", roots), ("policy.pins", policy), ("curl.pins", Array(pins) + [0x0A])] {
            try DurableFile(path: folder + "/" + name).create(bytes)
        }
    }

    private static func say(_ line: String) {
        print(line)
        fflush(nil)
    }

    /// Text from a client, without characters that would move a terminal's cursor.
    private static func escaped(_ text: String) -> String {
        text.unicodeScalars.map { $0.escaped(asASCII: true) }.joined()
    }
}
