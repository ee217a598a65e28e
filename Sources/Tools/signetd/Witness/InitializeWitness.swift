// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SignetServer
import TransparencyLog

/// `signetd witness init`
struct InitializeWitness: ParsableCommand, FolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make the data directory of a new witness, all of it or nothing.",
        discussion: """
            Makes the witness's keys, Ed25519 and ML-DSA-44, an empty database and an empty list of logs, and, unless \
            you bring your own or want plain HTTP, a certificate authority for this witness alone with a server \
            certificate, as `signetd init` does. Prints the witness's lines for the policy files of logs and their \
            clients.
            """)

    @OptionGroup var data: DataOption

    @Option(help: ArgumentHelp("The permanent name of the witness, such as witness.example/w1.", valueName: "name"))
    var name: String

    @Option(help: ArgumentHelp("How logs reach the witness: https://host[:port].", valueName: "url"))
    var url: String?

    @Option(
        name: .customLong("host"),
        help: ArgumentHelp(
            "A name or address for the server's certificate; may be repeated. Default: the host of the URL.",
            valueName: "host"))
    var hosts: [String] = []

    @Flag(help: "Speak plain HTTP on the loopback interface: for tests, and behind a proxy that adds TLS.")
    var plainHTTP = false

    @Option(help: ArgumentHelp("Your own certificate chain, PEM, the server's first.", valueName: "file"))
    var tlsCert: String?

    @Option(help: ArgumentHelp("Its private key, PEM, readable by you alone.", valueName: "file"))
    var tlsKey: String?

    @Option(help: ArgumentHelp("The root certificate of that chain, PEM.", valueName: "file"))
    var tlsRoot: String?

    func run() throws {
        let data = WitnessDirectory(path: self.data.data)
        guard let name = try? KeyName(Array(name.utf8)) else {
            throw ValidationError("--name: a name without spaces or plus signs, such as witness.example/w1")
        }
        let source = try tlsSource()
        do {
            _ = try WitnessSetup(name: name, tls: source).make(data, at: Diagnostics.now())
            print("made \(data.path)")
            print(WitnessLine.text(try StoredWitness(data), url: url))
            if case .own = source { print("move this away from the server: \(data.tls.rootKey)") }
        } catch { throw Diagnostics.exit(error) }
    }

    private func tlsSource() throws -> DirectorySetup.TLSSource? {
        switch (tlsCert, tlsKey, tlsRoot) {
        case (nil, nil, nil):
            if plainHTTP { return nil }
            return .own(hosts: try ownHosts())
        case (let certificate?, let key?, let root?) where !plainHTTP:
            do {
                return .existing(
                    try TLSIdentity(certificate: certificate, key: key), root: try TLSIdentity.readRoot(root))
            } catch { throw Diagnostics.exit(error) }
        default:
            throw ValidationError(
                "--tls-cert, --tls-key and --tls-root must be given together, and not with --plain-http")
        }
    }

    private func ownHosts() throws -> [ServerHost] {
        let texts = try hosts.isEmpty ? [url].compactMap(\.self).map { try ServerURL($0).host } : hosts
        guard !texts.isEmpty else { throw ValidationError("give --url or --host: which host is the certificate for?") }
        return try texts.map { text in
            guard let host = ServerHost(text) else {
                throw ValidationError("--host \(text): neither a DNS name in lower case nor an IP address")
            }
            return host
        }
    }
}
