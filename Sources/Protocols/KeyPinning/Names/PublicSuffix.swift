// SPDX-License-Identifier: Apache-2.0

/// Names under which strangers register their own, so that a policy must not pin all hosts below them.
///
/// A guard against slips, not the whole public suffix list: every name of one label, the usual second labels of country
/// registries, and the hosting providers that people pin by mistake.
package enum PublicSuffix {
    static func contains(_ name: [UInt8]) -> Bool { isRegistry(name) || providers.contains(name) }

    /// Whether a registry gives out the names below. No certificate is for all of them; for all names of a provider,
    /// such as those below `s3.amazonaws.com`, genuine ones are.
    package static func isRegistry(_ name: [UInt8]) -> Bool {
        let labels = DNSName.labels(name)
        guard labels.count > 1 else { return true }
        return labels.count == 2 && labels[1].count == 2 && registryLabels.contains(Array(labels[0]))
    }

    private static let registryLabels = Set(
        ["ac", "co", "com", "edu", "gob", "gov", "govt", "gouv", "mil", "ne", "net", "or", "org", "sch", "school"]
            .map { Array($0.utf8) })
    private static let providers = Set(
        [
            "amazonaws.com", "azurewebsites.net", "blogspot.com", "cloudfront.net", "duckdns.org", "dyndns.org",
            "fly.dev", "firebaseapp.com", "github.io", "gitlab.io", "herokuapp.com", "netlify.app", "ngrok.io",
            "onrender.com", "pages.dev", "s3.amazonaws.com", "vercel.app", "web.app", "workers.dev",
        ].map { Array($0.utf8) })
}
