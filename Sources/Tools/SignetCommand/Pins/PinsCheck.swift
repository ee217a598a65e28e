// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyPinning
import PinnedChains
import PinnedHTTP
import Signet

extension Pins {
    /// `signet pins check`
    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check",
            abstract:
                "A fire drill: whether a policy locks clients out today, and after each change of a server's "
                + "certificates.",
            discussion: """
                Exit status: 0 clients get through whatever changes; 1 they are locked out today; 2 a change would \
                lock them out.

                Example: signet pins check example.policy api.example.org
                """)

        @Argument(help: ArgumentHelp("A policy file.", valueName: "policy")) var policy: String
        @Argument(help: ArgumentHelp("A server: host or host:port.", valueName: "host")) var host: String

        @Option(
            help: ArgumentHelp("Read the server's chain from this PEM file instead of asking it.", valueName: "file"))
        var chain: String?

        @OptionGroup var anchors: AnchorOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let policy = try PinPolicyFile.read(policy)
            let server = try ServerPlace(host)
            guard let rule = policy.rule(for: server.name) else {
                throw CommandFailure(.notProven, ChainRefusal.unknownHostSentence(server.address.authority))
            }
            let presented: [[UInt8]]
            if let chain {
                presented = try CertificateFile.read(chain)
            } else {
                presented = try await server.presentedChain()
            }
            let verifier = ChainVerifier(policy: policy, anchors: try anchors.anchors())
            let paths: [CertificatePath]
            do throws(ChainRefusal) {
                paths = try await verifier.trustedPaths(presented, for: server.name, at: Surroundings.system.now())
            } catch { throw CommandFailure(.notProven, error.sentence(server.address.authority)) }
            report(FireDrill(rule, paths: paths.map(\.keys)), names(paths))
        }

        /// What a key's owner is called.
        private func names(_ paths: [CertificatePath]) -> [SPKIPin: String] {
            let pairs = paths.flatMap { zip($0.keys, $0.certificates) }
            return Dictionary(
                pairs.map { ($0, PrintedValue.printable((try? CertificateSummary($1))?.subject ?? "")) }
            ) { first, _ in first }
        }

        private func report(_ drill: FireDrill, _ names: [SPKIPin: String]) {
            let rows = drill.rows.map { row in
                PrintedValue.object([
                    "event": .string(row.event.words(names)),
                    "match": row.match.map { .string($0.pin.key.words) } ?? .null,
                ])
            }
            let lines = drill.rows.map { row in
                let event = row.event.words(names)
                guard let match = row.match else { return "  \(Paint.output.bad("locked out"))  \(event)" }
                let tier = String(decoding: match.tier.word, as: UTF8.self)
                return "  \(Paint.output.good("through"))     \(event)  "
                    + Paint.output.faint("\(tier) \(match.pin.key.words)")
            }
            output.emit(["rows": .array(rows)], lines.joined(separator: "\n"))
            if drill.rows.first?.match == nil { Signet.exit(withError: ExitCode(ExitStatus.notProven.rawValue)) }
            if !drill.isSurvived { Signet.exit(withError: ExitCode(ExitStatus.needsDecision.rawValue)) }
        }
    }

    /// `signet pins lint`
    struct Lint: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "lint", abstract: "Check a policy file, and warn about what will cause trouble later.",
            discussion: "Example: signet pins lint example.policy")

        @Argument(help: ArgumentHelp("A policy file.", valueName: "policy")) var policy: String

        @Option(help: ArgumentHelp("A server's chain, PEM: it must not contain a reserve key.", valueName: "file"))
        var chain: String?

        @OptionGroup var output: OutputOptions

        func run() throws {
            let policy = try PinPolicyFile.read(policy)
            var remarks = policy.rules.flatMap { $0.remarks(at: Surroundings.system.now()) }
            if let chain {
                let keys = try CertificateFile.read(chain).compactMap { try? CertificateFields($0).pin }
                for rule in policy.rules {
                    do { try rule.checkReserve(outside: keys) } catch {
                        remarks.append("\(rule.words): \(error.words)")
                    }
                }
            }
            let text =
                remarks.isEmpty ? "\(policy.rules.count) rules, nothing to say." : remarks.joined(separator: "\n")
            output.emit(["remarks": .array(remarks.map { .string($0) })], text)
            if !remarks.isEmpty { Signet.exit(withError: ExitCode(ExitStatus.needsDecision.rawValue)) }
        }
    }
}

/// Reads policy files.
enum PinPolicyFile {
    static func read(_ path: String) throws -> PinPolicy {
        let text = try InputFile.read(path, maximumByteCount: PinPolicy.maximumByteCount)
        do { return try PinPolicy(decoding: text) } catch { throw CommandFailure(.badFile, error.sentence(path)) }
    }
}

extension PinRule {
    var words: String { String(decoding: pattern.text, as: UTF8.self) }

    /// What is allowed and will hurt one day.
    fileprivate func remarks(at now: UInt64) -> [String] {
        var remarks: [String] = []
        if mode == .trustOnly { remarks.append("\(words): nothing is pinned") }
        if mode == .reportOnly { remarks.append("\(words): mismatches are reported but not refused") }
        let inUse = pins.filter { !$0.isBackup }
        if !inUse.isEmpty, inUse.allSatisfy({ $0.tier == .leaf }) {
            remarks.append("\(words): only the server's own keys are pinned; renew certificates with the same key")
        }
        if let expiry, expiry.time < now { remarks.append("\(words): overdue since \(Moment.date(expiry.time))") }
        if let expiry, expiry.time >= now, expiry.time - now < 30 * 86_400 {
            remarks.append("\(words): ends in \(Moment.span(expiry.time - now))")
        }
        return remarks
    }
}

extension FireDrill.Event {
    func words(_ names: [SPKIPin: String]) -> String {
        switch self {
        case .today: "today"
        case .leafRenewed: "the server's certificate is renewed with another key"
        case .authorityRotated(let key): "\(names[key] ?? "an authority") changes its key"
        case .rootRemoved(let key): "devices stop trusting \(names[key] ?? "a root")"
        case .movedToReserve: "the server moves to a reserve key"
        }
    }
}
