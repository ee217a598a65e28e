// SPDX-License-Identifier: Apache-2.0

public import SelectiveDisclosure
public import StrictJSON

extension CredentialQuery {
    /// What a card would show for this query: the claims by name, and nothing that was not asked for.
    ///
    /// A claim inside another is not shown: the holder would have to show the whole of it.
    ///
    /// Spec: OpenID for Verifiable Presentations 1.0, sections 6.4 and 6.4.1.
    ///
    /// - Returns: nil if the card is not what is asked for.
    public func claims(shownBy card: HeldCredential) -> JSONObject? {
        guard case .selectiveDisclosure(let types) = kind, let type = card.payload["vct"]?.string, types.contains(type)
        else { return nil }
        guard !claimSets.isEmpty else { return shown(claims, of: card) }
        let sets = claimSets.map { names in claims.filter { claim in claim.name.map(names.contains) ?? false } }
        return sets.lazy.compactMap { shown($0, of: card) }.first
    }

    private func shown(_ claims: [Claim], of card: HeldCredential) -> JSONObject? {
        var shown = JSONObject()
        for claim in claims {
            guard claim.path.steps.count == 1, case .name(let name) = claim.path.steps[0],
                let value = card.disclosures.first(where: { $0.name == name })?.value,
                claim.values.isEmpty || claim.values.contains(value)
            else { return nil }
            shown[name] = value
        }
        return shown
    }
}

extension CredentialsQuery {
    /// The credentials that are enough: of each set that must be shown the first option that can be; without sets, all.
    ///
    /// Spec: OpenID for Verifiable Presentations 1.0, section 6.4.2.
    ///
    /// - Returns: nil if what must be shown cannot be.
    public func needed(canShow: (CredentialQuery) -> Bool) -> [CredentialQuery]? {
        guard !sets.isEmpty else { return credentials.allSatisfy(canShow) ? credentials : nil }
        let available = Set(credentials.filter(canShow).map(\.name))
        var names: Set<JSONText> = []
        for set in sets where set.isRequired {
            guard let option = set.options.first(where: { available.isSuperset(of: $0) }) else { return nil }
            names.formUnion(option)
        }
        return credentials.filter { names.contains($0.name) }
    }

    /// What the site says about why it asks, if it does.
    public var purpose: JSONText? { sets.lazy.filter(\.isRequired).compactMap(\.purpose).first }
}
