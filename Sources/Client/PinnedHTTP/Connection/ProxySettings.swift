// SPDX-License-Identifier: Apache-2.0

public import KeyPinning

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The proxies that a device's settings name.
///
/// Signet's own connections never use a proxy. A configured proxy is recorded, and is refused if the policy says so. Pinned TLS
/// through a tunnel is as safe as without one, and an attacker who intercepts a connection needs no proxy setting.
public struct ProxySettings: Hashable, Sendable {
    private let variables: [String: String]
    private let enabled: Set<String>

    /// Makes settings.
    ///
    /// - Parameters:
    ///   - environment: the environment variables that curl and most programs read.
    ///   - enabled: what the system has switched on for all hosts, by the keys of Apple's `CFNetworkCopySystemProxySettings`.
    ///     The system's own list of exceptions is not read.
    public init(environment: [String: String], enabled: Set<String> = []) {
        variables = environment
        self.enabled = enabled
    }

    /// The settings of this process.
    public static var ofProcess: ProxySettings {
        #if canImport(CFNetwork)
            ProxySettings(environment: ProcessInfo.processInfo.environment, enabled: enabledBySystem)
        #else
            ProxySettings(environment: ProcessInfo.processInfo.environment)
        #endif
    }

    /// The proxy that is set for an HTTPS connection to a host.
    public func state(for host: ServerName) -> ProxyState {
        let switches = ["HTTPSEnable", "SOCKSEnable", "ProxyAutoConfigEnable", "ProxyAutoDiscoveryEnable"]
        if let name = switches.first(where: enabled.contains) { return .configured(setting: Array(name.utf8)) }
        guard !isExempt(host) else { return .none }
        for name in ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
            if let value = variables[name], !value.isEmpty { return .configured(setting: Array(name.utf8)) }
        }
        return .none
    }

    private func isExempt(_ host: ServerName) -> Bool {
        let list = variables["no_proxy"] ?? variables["NO_PROXY"] ?? ""
        let name = String(decoding: host.text, as: UTF8.self)
        return list.split(separator: ",").contains { item in
            let item = item.filter { $0 != " " }.lowercased()
            let domain = item.hasPrefix(".") ? String(item.dropFirst()) : item
            return item == "*" || name == domain || (!domain.isEmpty && name.hasSuffix("." + domain))
        }
    }
}
