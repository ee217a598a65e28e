// SPDX-License-Identifier: Apache-2.0

/// By which a database recognises the secrets that have to be the same wherever it is used.
package enum SecretDigests {
    /// The table.
    package static let table = """
        CREATE TABLE secrets (             -- which secrets belong to these rows
            name TEXT PRIMARY KEY,
            digest BLOB NOT NULL           -- 32 bytes, from which nobody can find the secret
        ) STRICT, WITHOUT ROWID
        """

    /// Whether a secret may be used: by `isKnown(secret:digest:after:before:)`, which also takes it down.
    ///
    /// - Parameter known: what is known of it; nil: nothing is.
    package static func allow(
        _ digest: [UInt8], where known: [UInt8]?, after former: [[UInt8]] = [], before next: [UInt8]? = nil
    ) -> Bool {
        guard let known else { return true }
        return known == digest || former.contains(known) || known == next
    }
}

extension SQLTransaction {
    /// Whether a secret is the one that was used first with these rows, or has taken its place.
    ///
    /// - Parameters:
    ///   - name: of the kind of secret.
    ///   - digest: of the secret that is in use, 32 bytes.
    ///   - former: of those whose place it has taken. If one of them is known here, `digest` is from now on.
    ///   - next: of the one that is accepted already and will take its place.
    package func isKnown(
        secret name: String, digest: [UInt8], after former: [[UInt8]] = [], before next: [UInt8]? = nil
    ) throws -> Bool {
        try run("INSERT INTO secrets (name, digest) VALUES (?, ?) ON CONFLICT (name) DO NOTHING", [name, digest])
        let known = try digestOfSecret(name)
        if let known, former.contains(known), known != digest {
            try run("UPDATE secrets SET digest = ? WHERE name = ?", [digest, name])
        }
        return SecretDigests.allow(digest, where: known, after: former, before: next)
    }

    /// What is known of a secret; nil if nothing is.
    package func digestOfSecret(_ name: String) throws -> [UInt8]? {
        try row("SELECT digest FROM secrets WHERE name = ?", [name])?.bytes(0)
    }
}
