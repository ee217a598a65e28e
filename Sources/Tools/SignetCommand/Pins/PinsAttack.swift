// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import KeyPinning
import PinScenarios
import Signet

extension Pins {
    /// `signet pins attack`
    struct Attack: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "attack",
            abstract: "Run thirty servers, 13 genuine and 17 that intercept, against which any client can be tested.",
            discussion: """
                Each listens on a port of 127.0.0.1 and is meant to be reached as localhost. The folder gets, for each \
                row, the roots to trust (roots.pem), the policy (policy.pins) and curl's pins (curl.pins; curl looks \
                at the server's own key only). A client passes when it reaches the genuine servers and the others \
                never print a request. Runs until it is interrupted.
                """)

        @Option(help: ArgumentHelp("A new folder for roots and policies.", valueName: "folder")) var out: String
        @Option(help: ArgumentHelp("The first of thirty ports; any free ones by default.", valueName: "port"))
        var port: UInt16 = 0

        func run() async throws {
            let scenarios: [PinScenario]
            do { scenarios = try PinScenario.all(at: Date()) } catch {
                throw CommandFailure(.bug, "The certificates were not made.", CommandFailure.bugRemedy)
            }
            var servers: [ScenarioServer] = []
            for (index, scenario) in scenarios.enumerated() {
                try write(scenario)
                servers.append(try await start(scenario, port == 0 ? 0 : Int(port) + index))
                let wish = scenario.mustPass ? Paint.output.good("reach ") : Paint.output.bad("refuse")
                let port = servers.last?.port ?? 0
                Output.line("\(scenario.row)\t\(port)\t\(wish)\t\(scenario.title)")
            }
            Output.line("ready")
            while !Task.isCancelled { try? await Task.sleep(for: .seconds(3600)) }
            for server in servers { await server.stop() }
        }

        private func start(_ scenario: PinScenario, _ port: Int) async throws -> ScenarioServer {
            let (row, mustPass) = (scenario.row, scenario.mustPass)
            do {
                return try await ScenarioServer(scenario, port: port) { sighting in
                    let secret = sighting.authorization.map { " (" + JSONValue.printable($0) + ")" } ?? ""
                    let mark = mustPass ? "reached" : "LEAK"
                    Output.line("\(mark)\t\(row)\t\(JSONValue.printable(sighting.request))\(secret)")
                }
            } catch {
                throw CommandFailure(.environment, "Port \(port) cannot be used.", "Choose another with --port.")
            }
        }

        private func write(_ scenario: PinScenario) throws {
            let folder = out + "/" + scenario.row
            do { try HomeFolder(path: folder).prepare() } catch { throw CommandFailure(error, path: folder) }
            let roots = scenario.anchors.flatMap { PEMBlock.text($0) }
            let pins = scenario.pins.map { $0.key.text(.curl) }.joined(separator: [UInt8(ascii: ";")])
            let policy = try scenario.policy().encoded
            for (name, bytes) in [("roots.pem", roots), ("policy.pins", policy), ("curl.pins", Array(pins) + [0x0A])] {
                let file = DurableFile(path: folder + "/" + name)
                do { try file.create(bytes) } catch { throw CommandFailure(error, path: file.path) }
            }
        }
    }
}
