// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SignetServer

extension Run {
    /// What `signetd run` refuses of settings each of which is right by itself.
    ///
    /// - Parameter settings: without faults.
    /// - Returns: a sentence; nil if they go together.
    static func contradiction(in settings: Settings) -> String? {
        let folder = settings.values[.data] == nil ? ["--data", "."] : []
        do {
            try parse(settings.arguments(besides: []) + folder).requireTogether()
            return nil
        } catch { return message(for: error) }
    }

    /// - Throws: `ValidationError`.
    private func requireTogether() throws {
        let address = try bind.map { try ListenAddress(typed: $0) } ?? ListenAddress(of: DataDirectory(path: data.data))
        var configuration = HTTPSServer.Configuration()
        configuration.showsMetricsToAll = openMetrics
        try proxies.add(to: &configuration, at: address)
        _ = try newest.guarding()
        guard case .network(let name) = address, let operators = configuration.monitoring,
            (operators.host, operators.port) == (name.host, name.port), name.port != 0
        else { return }
        throw ValidationError(
            "--admin-listen and --bind: one address cannot be both; choose another port for one of them")
    }
}
