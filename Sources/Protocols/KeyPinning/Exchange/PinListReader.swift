// SPDX-License-Identifier: Apache-2.0

/// Reads pins as other tools write them.
public struct PinListReader {
    private let format: PinListFormat
    private let host: [UInt8]?
    private let certificates: [CertificateFields]

    /// A reader.
    ///
    /// - Parameters:
    ///   - host: the host, for formats that do not name it.
    ///   - certificates: those whose keys bare hashes are of.
    public init(_ format: PinListFormat, host: [UInt8]? = nil, certificates: [CertificateFields] = []) {
        self.format = format
        self.host = host
        self.certificates = certificates
    }

    /// The entries of a list.
    ///
    /// - Throws: ``PinListFault``.
    public func entries(in text: [UInt8]) throws(PinListFault) -> [PinListEntry] {
        let entries =
            switch format {
            case .trustKit: try Self.trustKit(text)
            case .pinnedDomains: try Self.pinnedDomains(text)
            case .android: try Self.android(text)
            case .okHTTP: try Self.okHTTP(text)
            case .curl: [try entry(text.split(separator: UInt8(ascii: ";")).map { Array($0) })]
            case .hpkp: [try hpkp(text)]
            case .rawHex: [try rawHex(text)]
            }
        guard !entries.isEmpty, entries.allSatisfy({ !$0.pins.isEmpty }) else { throw .empty }
        return entries
    }

    private static func pin(_ text: [UInt8], tier: PinTier? = nil) throws(PinListFault) -> Pin {
        let trimmed = Array(text.drop(while: isXMLSpace).reversed().drop(while: isXMLSpace).reversed())
        do { return Pin(try SPKIPin(trimmed), tier: tier) } catch { throw .pin(text: trimmed, error) }
    }

    // MARK: Property lists

    private static func trustKit(_ text: [UInt8]) throws(PinListFault) -> [PinListEntry] {
        var reader = XMLReader(text)
        guard let domains = try reader.document().plistValue("TSKPinnedDomains") else { throw .empty }
        var entries: [PinListEntry] = []
        for (host, settings) in domains.plistMembers {
            guard let hashes = settings.plistValue("TSKPublicKeyHashes") else { continue }
            var entry = PinListEntry(host: host)
            for hash in hashes.children("string") { entry.pins.append(try pin(hash.value)) }
            if settings.plistValue("TSKIncludeSubdomains")?.isNamed("true") ?? false { entry.subdomains = .anyDepth }
            entry.isEnforced = !(settings.plistValue("TSKEnforcePinning")?.isNamed("false") ?? false)
            entry.expiry = (settings.plistValue("TSKExpirationDate")?.value).flatMap(InternetTime.midnight)
            entries.append(entry)
        }
        return entries
    }

    private static func pinnedDomains(_ text: [UInt8]) throws(PinListFault) -> [PinListEntry] {
        var reader = XMLReader(text)
        guard let domains = try reader.document().plistValue("NSPinnedDomains") else { throw .empty }
        var entries: [PinListEntry] = []
        for (host, settings) in domains.plistMembers {
            var entry = PinListEntry(host: host)
            for (key, tier) in [("NSPinnedCAIdentities", PinTier?.none), ("NSPinnedLeafIdentities", .leaf)] {
                for identity in settings.plistValue(key)?.children("dict") ?? [] {
                    guard let hash = identity.plistValue("SPKI-SHA256-BASE64") else { throw .empty }
                    entry.pins.append(try pin(hash.value, tier: tier))
                }
            }
            if settings.plistValue("NSIncludesSubdomains")?.isNamed("true") ?? false { entry.subdomains = .oneLabel }
            entries.append(entry)
        }
        return entries
    }

    // MARK: Android

    private static func android(_ text: [UInt8]) throws(PinListFault) -> [PinListEntry] {
        var reader = XMLReader(text)
        var entries: [PinListEntry] = []
        for configuration in try reader.document().descendants("domain-config") {
            guard let set = configuration.children("pin-set").first else { continue }
            var pins: [Pin] = []
            for hash in set.children("pin") { pins.append(try pin(hash.value)) }
            for domain in configuration.children("domain") {
                var entry = PinListEntry(host: domain.value)
                entry.pins = pins
                if domain.attribute("includeSubdomains") == Array("true".utf8) { entry.subdomains = .anyDepth }
                entry.expiry = set.attribute("expiration").flatMap(InternetTime.midnight)
                entries.append(entry)
            }
        }
        return entries
    }

    // MARK: Lines

    /// Every quoted text: one that is not a pin is the host of the pins behind it.
    private static func okHTTP(_ text: [UInt8]) throws(PinListFault) -> [PinListEntry] {
        var entries: [PinListEntry] = []
        let pieces = text.split(separator: UInt8(ascii: "\""), omittingEmptySubsequences: false)
        for (index, piece) in pieces.enumerated() where !index.isMultiple(of: 2) {
            if piece.starts(with: Array("sha256/".utf8)) {
                guard let last = entries.indices.last else { throw .needsHost }
                entries[last].pins.append(try pin(Array(piece)))
            } else {
                let pattern: HostPattern
                do { pattern = try HostPattern(piece) } catch { throw .host(error) }
                let entry = PinListEntry(pattern)
                if let same = entries.firstIndex(where: { $0.isForSameHosts(as: entry) }) {
                    entries.append(entries.remove(at: same))
                } else {
                    entries.append(entry)
                }
            }
        }
        return entries
    }

    private func hpkp(_ text: [UInt8]) throws(PinListFault) -> PinListEntry {
        let parts = text.split(separator: UInt8(ascii: ";")).map { Array($0.drop(while: isXMLSpace)) }
        var entry = try entry(parts.filter { $0.starts(with: Array("pin-sha256=".utf8)) })
        if parts.contains(where: { $0.map(DNSName.lower).starts(with: Array("includesubdomains".utf8)) }) {
            entry.subdomains = .anyDepth
        }
        return entry
    }

    private func rawHex(_ text: [UInt8]) throws(PinListFault) -> PinListEntry {
        guard let host else { throw .needsHost }
        var entry = PinListEntry(host: host)
        for line in text.split(whereSeparator: isXMLSpace) {
            let hash: RawKeyHash
            do { hash = try RawKeyHash(line) } catch { throw .pin(text: Array(line), error) }
            guard let key = hash.pin(among: certificates) else { throw .needsCertificate(hash) }
            entry.pins.append(Pin(key))
        }
        return entry
    }

    private func entry(_ texts: [[UInt8]]) throws(PinListFault) -> PinListEntry {
        guard let host else { throw .needsHost }
        var entry = PinListEntry(host: host)
        for text in texts { entry.pins.append(try Self.pin(text)) }
        return entry
    }
}

extension PinListEntry {
    init(_ pattern: HostPattern) {
        self.init(host: pattern.parent ?? pattern.text)
        switch pattern {
        case .exactly: return
        case .oneLabelBelow: subdomains = .oneLabel
        case .anyDepthBelow: subdomains = .anyDepth
        }
        includesHost = false
    }

    fileprivate func isForSameHosts(as other: PinListEntry) -> Bool {
        host == other.host && includesHost == other.includesHost && subdomains == other.subdomains
    }
}

extension XMLElement {
    /// The members of a property list's dictionary.
    var plistMembers: [([UInt8], XMLElement)] {
        guard isNamed("dict") else { return [] }
        return zip(children, children.dropFirst()).filter { $0.0.isNamed("key") && !$0.1.isNamed("key") }
            .map { ($0.0.value, $0.1) }
    }

    /// The member of this name in this dictionary or the first one below that has it.
    func plistValue(_ key: String) -> XMLElement? {
        if let own = plistMembers.first(where: { $0.0 == Array(key.utf8) }) { return own.1 }
        // Not lazily: the first element of a lazy collection is computed twice, which doubles the work with each level.
        for child in children {
            if let below = child.plistValue(key) { return below }
        }
        return nil
    }
}
