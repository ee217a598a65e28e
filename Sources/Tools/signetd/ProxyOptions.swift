// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ConnectionLimits
import SignetServer

/// How `signetd run` serves behind proxies, and where operators look.
struct ProxyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The address or network (192.0.2.0/24) of proxies that are believed when they say whose connection they pass on, by the "
                + "PROXY protocol, version 1 or 2; with --plain-http, whose request, by X-Forwarded-For. Can be repeated.",
            valueName: "address"))
    var behind: [String] = []

    @Flag(
        help:
            "Speak plain HTTP, on the loopback interface or a Unix socket only, behind a proxy on this machine that presents the server's certificate."
    )
    var plainHTTP = false

    @Option(
        help: ArgumentHelp(
            "Answer /metrics, /ready and /health here over plain HTTP, and the first two no longer at --bind. For a network of the "
                + "operator's own.",
            valueName: "host:port"))
    var adminListen: String?

    /// Adds them to a configuration.
    ///
    /// - Throws: `ValidationError`: they are wrong, or do not go together.
    func add(to configuration: inout HTTPSServer.Configuration, at address: ListenAddress) throws {
        configuration.proxies = try proxies()
        configuration.isPlain = plainHTTP
        try check(address)
        guard let adminListen else { return }
        guard !configuration.showsMetricsToAll else {
            throw ValidationError("--open-metrics and --admin-listen: only one of them says where /metrics is")
        }
        configuration.monitoring = try MonitoringAddress(typed: adminListen)
    }

    private func check(_ address: ListenAddress) throws {
        switch address {
        case .path:
            guard plainHTTP else {
                throw ValidationError(
                    "--bind unix: goes with --plain-http only: the proxy that opens the socket presents the certificate"
                )
            }
        case .network(let name):
            guard plainHTTP else { return }
            guard name.isLoopback else {
                throw ValidationError("--plain-http: only on 127.0.0.1, [::1] or localhost; a proxy adds TLS")
            }
            guard !behind.isEmpty else {
                throw ValidationError(
                    "--plain-http: name the proxy's address with --behind; without it all clients would look like one, on this machine"
                )
            }
        }
    }

    private func proxies() throws -> TrustedProxies {
        TrustedProxies(
            try behind.map { text in
                guard let network = IPNetwork(text: text) else {
                    throw ValidationError(
                        "--behind: \(text) is not an address such as 192.0.2.1 or 2001:db8::1, without port and brackets, and not a "
                            + "network such as 192.0.2.0/24, whose bits after the first 24 are zero"
                    )
                }
                return network
            })
    }
}

extension MonitoringAddress {
    /// The value of `--admin-listen`.
    ///
    /// - Throws: `ValidationError`.
    init(typed text: String) throws {
        guard let place = SocketName(text, defaultPort: 9464) else {
            throw ValidationError("--admin-listen: host:port, such as 127.0.0.1:9464 or [::1]:9464")
        }
        self.init(host: place.host, port: place.port)
    }
}
