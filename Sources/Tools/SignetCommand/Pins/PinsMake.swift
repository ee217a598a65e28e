// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyPinning
import PinnedChains
import Signet

extension Pins {
    /// `signet pins backup`
    struct Backup: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "backup", abstract: "Make a reserve key: the key, a signing request for it, and its pin.",
            discussion: """
                Keep the key apart from the server's other key. Nothing is certified until you need it.

                Example: signet pins backup api.example.org --out reserve
                """)

        @Argument(help: ArgumentHelp("The server's names and addresses.", valueName: "host")) var hosts: [String]
        @Option(help: ArgumentHelp("Write NAME.key and NAME.csr.", valueName: "name")) var out: String
        @OptionGroup var home: HomePlace
        @OptionGroup var output: OutputOptions

        func run() throws {
            let names = try hosts.map { try ServerPlace($0).name }
            let key: BackupKey
            do { key = try BackupKey(for: names) } catch {
                throw CommandFailure(.usage, "No key was made.", "Name at least one host.")
            }
            let files = [(".key", key.privateKeyPEM), (".csr", key.requestPEM)]
            for (suffix, _) in files { try OutputFile.checkRoom(out + suffix, outside: home.folder) }
            for (suffix, text) in files {
                try OutputFile.write(Array(text.utf8), to: out + suffix, outside: home.folder)
            }
            output.emit(["pin": .string(key.pin.words)], "backup leaf \(key.pin.words)")
        }
    }

    /// `signet pins convert`
    struct Convert: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "convert", abstract: "Read pins in one tool's format, and write them in another's.",
            discussion: """
                Formats: signet, trustkit, pinned-domains (Apple), android, okhttp, curl, hpkp, and raw-hex, which can \
                only be read: hashes of bare keys say less than pins, and need --chain. What the other format cannot \
                express is named on standard error.

                Example: signet pins convert example.policy --from signet --to android
                """)

        @Argument(help: ArgumentHelp("A file of pins.", valueName: "file")) var file: String
        @Option(name: .customLong("from"), help: ArgumentHelp("Its format.", valueName: "format"))
        var source: Format
        @Option(name: .customLong("to"), help: ArgumentHelp("The other format.", valueName: "format"))
        var target: Format = .signet
        @Option(help: ArgumentHelp("The host, where the format does not name it.", valueName: "host"))
        var host: String?
        @Option(
            help: ArgumentHelp(
                "The server's chain, PEM: keys outside it are reserve keys. Without it, the last key is.",
                valueName: "file"))
        var chain: String?

        enum Format: String, CaseIterable, ExpressibleByArgument {
            case signet, trustkit, android, okhttp, curl, hpkp
            case pinnedDomains = "pinned-domains"
            case rawHex = "raw-hex"

            var list: PinListFormat? {
                switch self {
                case .signet: nil
                case .trustkit: .trustKit
                case .android: .android
                case .okhttp: .okHTTP
                case .curl: .curl
                case .hpkp: .hpkp
                case .pinnedDomains: .pinnedDomains
                case .rawHex: .rawHex
                }
            }
        }

        func run() throws {
            let policy = try read()
            guard let format = target.list else { return Output.write(policy.encoded) }
            do throws(PinListFault) {
                let (text, losses) = try PinListWriter(format).write(policy)
                Output.write(text)
                for loss in losses { Output.error("lost: \(loss.words)") }
            } catch { throw CommandFailure(.usage, error.sentence(file)) }
        }

        private func read() throws -> PinPolicy {
            guard let format = source.list else { return try PinPolicyFile.read(file) }
            let text = try InputFile.read(file, maximumByteCount: PinPolicy.maximumByteCount)
            let certificates =
                try chain.map { try CertificateFile.read($0).compactMap { try? CertificateFields($0) } } ?? []
            let reader = PinListReader(format, host: host.map { Array($0.utf8) }, certificates: certificates)
            let rules: [PinRule]
            do throws(PinListFault) {
                var found: [PinRule] = []
                for entry in try reader.entries(in: text) { found += try entry.rules(chain: certificates.map(\.pin)) }
                rules = found
            } catch { throw CommandFailure(.badFile, error.sentence(file)) }
            do { return try PinPolicy(version: 1, rules: rules) } catch {
                throw CommandFailure(.badFile, PinPolicyTextFault.policy(error).sentence(file))
            }
        }
    }

    /// `signet pins reports`
    struct Reports: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "reports",
            abstract: "Show the reports of connections in which no key was pinned, one JSON object per line.",
            discussion: "Example: signet pins reports --clear")

        @OptionGroup var home: ClosedHomeOptions
        @Flag(help: "Forget them afterwards.") var clear = false

        func run() throws {
            let spool = ReportSpool(home.folder.reports)
            do {
                for entry in try spool.entries() { Output.exact(String(decoding: entry.json, as: UTF8.self)) }
                if clear { try spool.clear() }
            } catch { throw CommandFailure(error, path: home.folder.reports.path) }
        }
    }
}
