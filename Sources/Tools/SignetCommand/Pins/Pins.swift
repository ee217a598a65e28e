// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyPinning
import PinnedChains
import PinnedHTTP
import Signet

/// `signet pins`
struct Pins: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pins", abstract: "The keys that servers are expected to have.",
        discussion: """
            Every signet connection is pinned by the directory file; update and accept keep it in line with the \
            directory's log. The other commands are for server operators and other kinds of clients: they make, check \
            and convert pins, and rehearse what breaks them.

            Example: signet pins show example.org
            """,
        subcommands: [
            Update.self, Accept.self, Show.self, Check.self, Lint.self, Backup.self, Convert.self, Try.self,
            Reports.self,
        ])
}

/// Whom to trust for a validated path.
struct AnchorOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Trust the certificates of this PEM file instead of the system's.", valueName: "file"))
    var roots: String?

    func anchors() throws -> TrustAnchors {
        guard let roots else {
            guard let found = TrustAnchors.ofSystem() else {
                throw CommandFailure(
                    .badFile, "This system has no list of trusted certificates where signet looks for one.",
                    "Name one with --roots.")
            }
            return found.anchors
        }
        return try Self.anchors(at: roots)
    }

    /// The certificates of a PEM file.
    static func anchors(at path: String) throws -> TrustAnchors {
        do { return try TrustAnchors(CertificateFile.read(path)) } catch let error as TrustAnchorFault {
            throw CommandFailure(.badFile, error.sentence(path))
        }
    }
}

/// Certificates from a PEM file or from a server.
enum CertificateFile {
    static let maximumByteCount = 4_194_304

    static func read(_ path: String) throws -> [[UInt8]] {
        let text = try InputFile.read(path, maximumByteCount: maximumByteCount)
        do { return try PEMBlock.certificates(in: text) } catch { throw CommandFailure(.badFile, error.sentence(path)) }
    }
}

/// A server as a person names it: `host`, `host:port` or `https://host:port`.
struct ServerPlace {
    let address: ServerAddress
    let name: ServerName

    init(_ text: String) throws {
        let prefix = "https://"
        let bare = text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
        do {
            address = try ServerAddress(prefix + bare)
            name = try ServerName(address.host.utf8)
        } catch {
            throw CommandFailure(
                .usage, "'\(PrintedValue.printable(text))' is not a server.",
                "A server looks like example.org or example.org:8443."
            )
        }
    }

    /// What the server presents, which is not verified.
    func presentedChain() async throws -> [[UInt8]] {
        do throws(TransportError) { return try await ChainProbe.presentedChain(of: address) } catch {
            throw CommandFailure(error.family.status, error.sentence(address.authority))
        }
    }
}

extension SPKIPin {
    /// `sha256/…`.
    var words: String { String(decoding: text(), as: UTF8.self) }
}
