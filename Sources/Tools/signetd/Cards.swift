// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CardSigning
import SignetServer

/// `signetd cards`
struct Cards: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cards", abstract: "Sign cards for people's wallets.", subcommands: [Set.self])

    /// `signetd cards set`
    struct Set: ParsableCommand, FolderCommand {
        static let configuration = CommandConfiguration(
            commandName: "set", abstract: "Give the server the certificate with which it signs cards for wallets.",
            discussion: """
                The certificate says for which cards it signs: its user identifier (UID) becomes their pass type, and its \
                organizational unit (OU) their team. The key is P-256, or RSA with 2048 to 4096 bits.

                The server may be running: within the interval of --republish it logs what it signs with, and people can \
                ask. Call it again with a new certificate before the old one expires.

                The server sees 32 bytes of each card, and cannot tell what is on it or whose it is. So whoever has an account can have \
                any card signed.

                Example: signetd cards set --data DIR --certificate pass.pem --key pass.key
                """)

        @OptionGroup var data: DataOption

        @Option(help: ArgumentHelp("Certificates, PEM, the signer's first.", valueName: "file")) var certificate: String
        @Option(help: ArgumentHelp("The key of the first certificate, PEM.", valueName: "file")) var key: String
        @Option(help: "How many cards an account can have signed in a month, 1 to \(CardSignerStatement.maximumLimit).")
        var limit: UInt64 = 20

        func validate() throws {
            guard (1...CardSignerStatement.maximumLimit).contains(limit) else {
                throw ValidationError("--limit is from 1 to \(CardSignerStatement.maximumLimit).")
            }
        }

        func run() throws {
            let (chain, secret) = try (OptionFile.read(certificate, "--certificate"), OptionFile.read(key, "--key"))
            let statement: CardSignerStatement
            do {
                statement = try CardSignerFiles(DataDirectory(path: data.data)).set(
                    certificates: chain, key: secret, limit: limit)
            } catch { throw Diagnostics.exit(error) }
            print("version \(statement.version) of the signer: the running server adopts it, or the next one to start")
            print("pass type \(String(decoding: statement.passType, as: UTF8.self))")
            print("team \(String(decoding: statement.team, as: UTF8.self))")
        }
    }
}
