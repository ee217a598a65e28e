// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyDirectory
import KeyPinning
import KeyTransparency
import Logging
import SignetAPI
import SignetServer
import TransparencyLog

/// `signetd init`
struct Initialize: AsyncParsableCommand, FolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make the data directory of a new server, all of it or nothing.",
        discussion: """
            Makes the log's key, the key of its clock and the key that hides handles, an empty log and database, \
            and, unless you bring your own, a certificate authority for this server alone (P-256; ten years) with \
            a server certificate (397 days).

            Clients accept the server's TLS key and the key in tls/backup.key, and no other: renew certificates with \
            the same key, or with the other when the first is lost or stolen. Move tls/backup.key away too.

            tls/ca.key can vouch to your users for any server. The server never reads it: move it to a place of its \
            own. Put it back before the 397 days are over, and make the next server certificate with \
            `signetd rotate tls --renew`, or with the tools of your choice.
            """)

    @OptionGroup var data: DataOption

    @Option(help: ArgumentHelp("The permanent name of the log, such as example.org/signet.", valueName: "name"))
    var origin: String

    @Option(help: ArgumentHelp("How clients reach the server: https://host[:port].", valueName: "url"))
    var url: String

    @Option(
        name: .customLong("host"),
        help: ArgumentHelp(
            "A name or address for the server's certificate; may be repeated. Default: the host of the URL.",
            valueName: "host"))
    var hosts: [String] = []

    @Option(
        help: ArgumentHelp(
            "Witnesses, groups and the quorum that every checkpoint needs: lines of a C2SP tlog-policy.",
            valueName: "file"))
    var witnesses: String?

    @Option(help: ArgumentHelp("Your own certificate chain, PEM, the server's first.", valueName: "file"))
    var tlsCert: String?

    @Option(help: ArgumentHelp("Its private key, PEM, readable by you alone.", valueName: "file"))
    var tlsKey: String?

    @Option(help: ArgumentHelp("The root certificate that clients are to trust, PEM.", valueName: "file"))
    var tlsRoot: String?

    @Option(
        help: ArgumentHelp(
            "A key that `signetd recovery-key make` printed: it brings clients new pins when all TLS keys are lost.",
            valueName: "vkey"))
    var recoveryKey: String?

    @Option(
        name: .customLong("log-key-pkcs11"), help: TokenOption.help("The log's key is there, and none is made."),
        transform: TokenOption.address)
    var token: TokenAddress?

    @Option(
        help: ArgumentHelp(
            "What clients with a proxy in their settings do: record connects without it and notes it in reports; "
                + "refuse does not connect.",
            valueName: "rule"), transform: Rotate.TLS.proxyRule)
    var proxies = PinPolicy.ProxyRule.record

    @Option(
        help: ArgumentHelp(
            "Clients accept no older answers: 15m to 1d. This is the longest time for which a view can be "
                + "frozen, and for which your witnesses can be away.",
            valueName: "age"))
    var maximumAge = AnswerAge(seconds: FreshnessRule.standard.maximumAge)

    func run() async throws {
        let data = DataDirectory(path: self.data.data)
        let source = try tlsSource()
        if case .existing(let identity, let root) = source,
            let word = await identity.refusal(trusting: root, at: try ServerURL(url).text, Diagnostics.now())
        {
            throw ValidationError(
                "--tls-cert, --tls-key, --tls-root: clients would refuse this certificate at \(url): \(word). Nothing was made"
            )
        }
        var setup = DirectorySetup(
            origin: try name(), url: try ServerURL(url).text, tls: source, witnesses: try witnessLines(),
            recoveryKey: try recoveryKey.map(Rotate.TLS.recoveryKey), proxies: proxies,
            maximumAge: maximumAge.seconds, logger: Diagnostics.logger(.error))
        setup.token = token
        do {
            _ = try await setup.make(data, at: Diagnostics.now())
        } catch { throw Diagnostics.exit(error) }
        print("made \(data.path)")
        print("for your clients: \(data.profile)")
        print("move this away from the server: \(data.backupKey)")
        if tlsCert == nil { print("move this away from the server: \(data.rootKey)") }
    }

    private func name() throws -> KeyName {
        guard let name = try? KeyName(Array(origin.utf8)), (try? DirectoryKeys.clockName(of: name)) != nil else {
            throw ValidationError("--origin: a name without spaces or plus signs, such as example.org/signet")
        }
        return name
    }

    private func witnessLines() throws -> [UInt8] {
        try witnesses.map { try OptionFile.read($0, "--witnesses") } ?? []
    }

    private func tlsSource() throws -> DirectorySetup.TLSSource {
        switch (tlsCert, tlsKey, tlsRoot) {
        case (nil, nil, nil): return .own(hosts: try ownHosts())
        case (let certificate?, let key?, let root?):
            do {
                return .existing(
                    try TLSIdentity(certificate: certificate, key: key), root: try TLSIdentity.readRoot(root))
            } catch { throw Diagnostics.exit(error) }
        default: throw ValidationError("--tls-cert, --tls-key and --tls-root must be given together")
        }
    }

    private func ownHosts() throws -> [ServerHost] {
        let texts = hosts.isEmpty ? [try ServerURL(url).host] : hosts
        return try texts.map { text in
            guard let host = ServerHost(text) else {
                throw ValidationError("--host \(text): neither a DNS name in lower case nor an IP address")
            }
            return host
        }
    }
}
