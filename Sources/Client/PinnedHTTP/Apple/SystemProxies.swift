// SPDX-License-Identifier: Apache-2.0

#if canImport(CFNetwork)
    import CFNetwork
    import Foundation

    extension ProxySettings {
        /// The keys of the switches that are enabled in the system's settings.
        static var enabledBySystem: Set<String> {
            guard let copy = CFNetworkCopySystemProxySettings() else { return [] }
            let settings: Any = copy.takeRetainedValue()
            guard let settings = settings as? [String: Any] else { return [] }
            return Set(settings.filter { ($0.value as? Int ?? 0) != 0 }.keys)
        }
    }
#endif
