/// Names under which strangers register theirs, so that nobody can pin all hosts below.
///
/// A guard against slips, not the whole public suffix list: every name of one label, the usual second labels of country
/// registries, and the hosting providers that people pin by mistake.
enum PublicSuffix {
    static func contains(_ name: [UInt8]) -> Bool {
        let labels = DNSName.labels(name).map { Array($0) }
        guard labels.count > 1 else { return true }
        if labels.count == 2, labels[1].count == 2, registryLabels.contains(labels[0]) { return true }
        return providers.contains(name)
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
