// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CanonicalCoding
import Dispatch
import Foundation
import KeyTransparency
import LogAuditor
import Signet
import TransparencyLog

extension Audit {
    /// `signet audit [run]`
    struct Run: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "run", abstract: "Audit a log, once or as it grows.",
            discussion: "Example: signet audit run --directory directory.signet --follow")

        @OptionGroup var log: LogOptions
        @Flag(help: "Audit the log as it is now, and stop. This is the default.") var once = false
        @Flag(help: "Keep going as the log grows, until stopped or the log is guilty.") var follow = false
        @Option(help: ArgumentHelp("How often to look for new entries.", valueName: "seconds")) var every: UInt64 = 2
        @Option(
            help: ArgumentHelp(
                "Where to keep the entries that were read, and evidence. Default: one in the home folder.",
                valueName: "dir"))
        var state: String?
        @Option(help: ArgumentHelp("Cosign with this key, made by 'signet audit key'.", valueName: "file"))
        var cosign: String?
        @Option(
            help: ArgumentHelp(
                "Where the log can ask for cosignatures, as plain HTTP for a proxy that adds TLS. On the loopback interface "
                    + "only, unless --listen-beyond-loopback.",
                valueName: "host:port"))
        var listen: String?
        @Flag(help: "Listen on other addresses too, where a proxy on another machine adds TLS.")
        var listenBeyondLoopback = false
        @Option(
            help: ArgumentHelp(
                "Answer /health, /ready and /metrics here over plain HTTP, for a network of your own. With it an audit of a guilty log "
                    + "does not end, so that the proof is noticed.",
                valueName: "host:port"))
        var adminListen: String?
        @Option(
            help: ArgumentHelp(
                "The --state of an earlier audit: of the log that this one continues, or of this one under "
                    + "another key.",
                valueName: "dir"))
        var former: [String] = []
        @OptionGroup var home: ClosedHomeOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard (cosign == nil) == (listen == nil) else {
                throw ValidationError("--cosign and --listen must be used together.")
            }
            guard !once || (!follow && cosign == nil) else {
                throw ValidationError("--once cannot be used with --follow or --cosign.")
            }
            guard adminListen == nil || follow || cosign != nil else {
                throw ValidationError("--admin-listen needs --follow or --cosign: an audit that ends answers nobody.")
            }
            guard (1...86_400).contains(every) else { throw ValidationError("--every must be from 1 to 86400.") }
        }

        func run() async throws {
            let (policy, source) = try log.open()
            let auditor: Auditor
            do {
                auditor = try Auditor(
                    of: policy, at: source, keeping: folder(of: policy),
                    convicted: convicted(besides: folder(of: policy)), former: audits(besides: folder(of: policy)),
                    clock: Surroundings.system.now,
                    progress: AuditProgress().show)
            } catch { throw failure(error) }
            let watch = AuditWatch(
                auditor, of: policy, keeping: folder(of: policy), patience: max(600, 3 * every),
                clock: Surroundings.system.now, uptime: { DispatchTime.now().uptimeNanoseconds })
            let pages = try await showPages(of: watch)
            do throws(AuditorError) { try await auditor.resume() } catch {
                // A guilty log is looked at below, with the pages open.
                guard case .guilty = error, pages != nil else { throw failure(error) }
            }
            guard follow || cosign != nil else { return try await emit(auditor, audit(auditor)) }
            let server = try await serve(auditor, policy)
            do { try await follow(auditor, watch) } catch {
                guard pages != nil, let failure = error as? CommandFailure else { throw error }
                failure.report(asJSON: false)
                // Ends with the process: whoever reads the pages is to see the fault.
                while !Task.isCancelled { await Surroundings.system.wait(.seconds(3600)) }
            }
            await server?.stop()
            await pages?.stop()
        }

        /// Looks again and again. Only guilt ends it.
        private func follow(_ auditor: Auditor, _ watch: AuditWatch) async throws {
            var shown: TreeHead?
            var complaint: AuditorError?
            while true {
                do throws(AuditorError) {
                    try await watch.look()
                    complaint = nil
                } catch {
                    switch error {
                    case .guilty, .evidenceNotKept: throw failure(error)
                    // What is published may lag behind what was cosigned.
                    case .older: break
                    case .paused: continue
                    default:
                        if error != complaint { failure(error).report(asJSON: false) }
                        complaint = error
                    }
                }
                if let sound = await auditor.audited, sound.checkpoint.head != shown {
                    await emit(auditor, sound)
                    shown = sound.checkpoint.head
                }
                await Surroundings.system.wait(.seconds(every))
            }
        }

        /// Answers operators, if an address is given.
        private func showPages(of watch: AuditWatch) async throws -> AuditPages? {
            guard let adminListen else { return nil }
            let address = try Self.place(adminListen, like: "127.0.0.1:9465")
            do { return try await AuditPages(watch, host: address.host, port: address.port) } catch {
                throw Self.cannotListen(adminListen)
            }
        }

        private func audit(_ auditor: Auditor) async throws -> LogSignedCheckpoint {
            while true {
                do throws(AuditorError) { return try await auditor.auditPublished() } catch {
                    if case .paused = error { continue }
                    throw failure(error)
                }
            }
        }

        private func serve(_ auditor: Auditor, _ policy: Policy) async throws -> CosignerServer? {
            guard let cosign, let listen else { return nil }
            let address = try Self.place(listen, like: "127.0.0.1:8445")
            guard listenBeyondLoopback || Self.isLoopback(address.host) else {
                throw CommandFailure(
                    .usage, "\(listen) can be reached by others, and what they send to it is not encrypted.",
                    "Listen on 127.0.0.1 behind a proxy that adds TLS, or add --listen-beyond-loopback.")
            }
            let cosigner: AuditCosigner
            do {
                cosigner = try AuditCosigner(
                    auditor, of: policy, key: AuditorKey(path: cosign), clock: Surroundings.system.now)
            } catch { throw CommandFailure(error) }
            let server: CosignerServer
            do { server = try await CosignerServer(cosigner, host: address.host, port: address.port) } catch {
                throw Self.cannotListen(listen)
            }
            output.emit(
                ["listening": .string("\(address.host):\(server.port)")], "listening \(address.host):\(server.port)")
            return server
        }

        private static func isLoopback(_ host: String) -> Bool {
            ["localhost", "::1"].contains(host) || host.hasPrefix("127.")
        }

        private static func cannotListen(_ text: String) -> CommandFailure {
            CommandFailure(
                .environment, "Cannot listen on \(text).", "Choose another port, or stop the program that uses it.")
        }

        private static func place(_ text: String, like example: String) throws -> (host: String, port: Int) {
            guard let address = address(text) else {
                throw CommandFailure(.usage, "\(text) is not host:port.", "Use, for example, \(example).")
            }
            return address
        }

        /// Host and port; port 0 for any free one.
        private static func address(_ text: String) -> (host: String, port: Int)? {
            let parts = text.split(separator: ":", omittingEmptySubsequences: false)
            guard let last = parts.last, let port = UInt16(last), parts.count > 1 else { return nil }
            let host = parts.dropLast().joined(separator: ":")
            let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
            return (isBracketed ? String(host.dropFirst().dropLast()) : host, Int(port))
        }

        private func folder(of policy: Policy) -> AuditFolder {
            if let state { return AuditFolder(path: state) }
            return .below(home.folder.path, for: policy.logs.first?.keyID)
        }

        /// A log that changes its key or hands over has another folder from then on, and what was found of it stays found.
        private func convicted(besides own: AuditFolder) -> [GuiltyLog] {
            GuiltyLog.all(in: home.folder.path, besides: own)
                + former.compactMap { GuiltyLog(AuditFolder(path: $0)) }
        }

        private func audits(besides own: AuditFolder) -> [FormerAudit] {
            FormerAudit.all(in: home.folder.path, besides: own)
                + former.compactMap { FormerAudit(AuditFolder(path: $0)) }
        }

        private func emit(_ auditor: Auditor, _ sound: LogSignedCheckpoint) async {
            Output.progress(nil)
            let head = sound.checkpoint.head
            let (epoch, labels) = (await auditor.lastEpoch ?? 0, await auditor.labelCount)
            output.emit(
                [
                    "epoch": .number(epoch), "labels": .number(labels), "origin": .text(sound.checkpoint.origin.bytes),
                    "root": .base64(head.root.bytes), "size": .number(head.size), "sound": true,
                ],
                """
                \(Paint.output.good("✓ sound")): \(Moment.entries(head.size)), \(Moment.count(epoch, "epoch")) and \
                \(Moment.count(labels, "account")) of \(PrintedValue.printable(sound.checkpoint.origin.bytes)) are as its \
                rules require
                """)
        }

        /// What is said of a failure; of a guilty log, to programs too.
        private func failure(_ error: AuditorError) -> CommandFailure {
            Output.progress(nil)
            if case .guilty(let guilt) = error, output.json {
                Output.json([
                    "evidence": .string(guilt.path), "fault": .string(guilt.evidence.claim), "sound": false,
                ])
            }
            return CommandFailure(error)
        }
    }
}

extension Evidence {
    /// The word that says what it claims.
    var claim: String {
        switch self {
        case .fork: "fork"
        case .rule(let rule): rule.fault.rawValue
        }
    }
}
