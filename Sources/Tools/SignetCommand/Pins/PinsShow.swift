// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyPinning
import PinnedChains
import Signet

extension Pins {
    /// `signet pins show`
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show the certificates of a PEM file or a live server, and the pins of their keys.",
            discussion: """
                A live server is asked for its certificates and nothing else is sent to it. What it presents is trust \
                on first use: compare it with what the operator says before you pin it.

                Example: signet pins show example.org:8443 --roots ca.pem
                """)

        @Argument(help: ArgumentHelp("A PEM file, or a server: host or host:port.", valueName: "file-or-host"))
        var place: String

        @OptionGroup var anchors: AnchorOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            if DurableFile(path: place).exists {
                let certificates = try CertificateFile.read(place).map { try summary($0) }
                return emit(certificates, path: nil, warning: nil)
            }
            let server = try ServerPlace(place)
            let presented = try await server.presentedChain()
            let path = try await validatedPath(presented, server.name)
            emit(
                try presented.map { try summary($0) }, path: path,
                warning:
                    "Nothing vouches for this connection: this is trust on first use. Compare with the "
                    + "operator's pins.")
        }

        private func summary(_ der: [UInt8]) throws -> CertificateSummary {
            do { return try CertificateSummary(der) } catch {
                throw CommandFailure(.badFile, error.sentence(place))
            }
        }

        private enum Validated {
            case path([CertificateSummary])
            case refused(Sentence)
        }

        private func validatedPath(_ presented: [[UInt8]], _ host: ServerName) async throws -> Validated {
            let verifier = ChainVerifier(policy: try .trusting(host), anchors: try anchors.anchors())
            do throws(ChainRefusal) {
                let verdict = try await verifier.verify(presented, for: host, at: Surroundings.system.now())
                return .path(verdict.path.certificates.compactMap { try? CertificateSummary($0) })
            } catch { return .refused(error.sentence(place)) }
        }

        private func emit(_ presented: [CertificateSummary], path: Validated?, warning: String?) {
            if let warning, !output.json { Output.error(Paint.error.warning(warning)) }
            var json: [String: PrintedValue] = ["presented": .array(presented.map(\.json))]
            var lines = [Paint.output.strong(warning == nil ? "in the file" : "presented")]
            lines += presented.enumerated().map { $1.line("\($0 + 1)") }
            switch path {
            case .path(let path):
                json["validated"] = .array(path.map(\.json))
                lines.append(Paint.output.strong("validated"))
                for (depth, certificate) in path.enumerated() {
                    let tier = PinTier(depth: depth, pathLength: path.count)
                    lines.append(certificate.line(String(decoding: tier.word, as: UTF8.self)))
                }
            case .refused(let sentence):
                json["refused"] = .string(sentence.what)
                lines.append(Paint.output.bad("not trusted") + "  " + sentence.what)
            case nil: break
            }
            output.emit(.object(json), lines.joined(separator: "\n"))
        }
    }
}

extension PinPolicy {
    /// Trust without pins in one host, for looking at its chain.
    static func trusting(_ host: ServerName) throws -> PinPolicy {
        let rule = try PinRule(for: .exactly(host), mode: .trustOnly, pins: [])
        return try PinPolicy(version: 0, environment: .development, rules: [rule])
    }
}

extension CertificateSummary {
    var json: PrintedValue {
        [
            "issuer": .string(PrintedValue.printable(issuer)), "notAfter": .number(UInt64(max(0, fields.notAfter))),
            "pin": .string(fields.pin.words), "subject": .string(PrintedValue.printable(subject)),
        ]
    }

    /// Two lines: the name and its end, and the pin.
    func line(_ mark: String) -> String {
        let end = Moment.date(UInt64(max(0, fields.notAfter))).prefix(10)
        let place = mark.count < 12 ? mark + String(repeating: " ", count: 12 - mark.count) : mark
        return "  \(place)  \(PrintedValue.printable(subject))  \(Paint.output.faint("until \(end)"))\n"
            + "                \(fields.pin.words)"
    }
}
