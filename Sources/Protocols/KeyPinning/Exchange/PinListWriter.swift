// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// Writes a policy as other tools read it, and says what they cannot say.
public struct PinListWriter {
    private let format: PinListFormat

    /// A writer.
    public init(_ format: PinListFormat) { self.format = format }

    /// The list and what is lost in it.
    ///
    /// - Throws: ``PinListFault``: ``PinListFault/cannotBeWritten``, ``PinListFault/empty``.
    public func write(_ policy: PinPolicy) throws(PinListFault) -> (text: [UInt8], losses: [PinListLoss]) {
        var losses: [PinListLoss] = []
        let entries = entries(policy, &losses)
        guard !entries.isEmpty else { throw .empty }
        let text =
            switch format {
            case .trustKit: Self.plist(Self.trustKit(entries))
            case .pinnedDomains: Self.plist(Self.pinnedDomains(entries))
            case .android: Self.android(entries)
            case .okHTTP: Self.okHTTP(policy)
            case .curl: Self.pins(entries, .curl).joined(separator: ";") + "\n"
            case .hpkp: Self.hpkp(entries)
            case .rawHex: throw PinListFault.cannotBeWritten
            }
        return (Array(text.utf8), losses)
    }

    /// One entry for each name, with everything that is lost on the way.
    private func entries(_ policy: PinPolicy, _ losses: inout [PinListLoss]) -> [PinListEntry] {
        var entries: [PinListEntry] = []
        for rule in policy.rules {
            let name = rule.pattern.text
            guard rule.mode != .trustOnly else {
                losses.append(.trustOnly(name))
                continue
            }
            losses += lost(rule)
            var entry = PinListEntry(rule.pattern)
            entry.pins = rule.pins
            entry.isEnforced = rule.mode == .enforce
            entry.expiry = rule.expiry?.time
            if let same = entries.firstIndex(where: { $0.host == entry.host && $0.pins == entry.pins }) {
                entries[same].includesHost = entries[same].includesHost || entry.includesHost
                if entry.subdomains != .none { entries[same].subdomains = entry.subdomains }
            } else {
                entries.append(entry)
            }
        }
        for entry in entries where !entry.includesHost && format != .okHTTP { losses.append(.widened(entry.host)) }
        return entries
    }

    private func lost(_ rule: PinRule) -> [PinListLoss] {
        let name = rule.pattern.text
        var losses: [PinListLoss] = []
        let keepsExpiry = format == .trustKit || format == .android
        if let expiry = rule.expiry {
            losses.append(keepsExpiry ? .expiryAction(name) : .expiry(name))
            if keepsExpiry, expiry.action == .keepEnforcing { losses.append(.widened(name)) }
        }
        let keepsLeaves = format == .pinnedDomains
        if rule.pins.contains(where: { $0.tier != nil && !(keepsLeaves && $0.tier == .leaf) }) {
            losses.append(.tiers(name))
        }
        if !rule.exclusions.isEmpty { losses.append(.exclusions(name)) }
        if rule.mode == .reportOnly, format != .trustKit { losses.append(.reportOnly(name)) }
        if format == .curl || format == .hpkp { losses.append(.host(name)) }
        switch rule.pattern {
        case .exactly: break
        case .oneLabelBelow: if format != .okHTTP && format != .pinnedDomains { losses.append(.widened(name)) }
        case .anyDepthBelow: if format == .pinnedDomains || format == .curl { losses.append(.narrowed(name)) }
        }
        return losses
    }

    private static func pins(_ entries: [PinListEntry], _ spelling: PinSpelling) -> [String] {
        entries.flatMap(\.pins).reduce(into: [String]()) { found, pin in
            let text = string(pin.key.text(spelling))
            if !found.contains(text) { found.append(text) }
        }
    }

    private static func string(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    private static func plist(_ body: String) -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">
        <dict>
        \(body)</dict>
        </plist>

        """
    }

    private static func trustKit(_ entries: [PinListEntry]) -> String {
        var text = "<key>TSKConfiguration</key>\n<dict>\n<key>TSKPinnedDomains</key>\n<dict>\n"
        for entry in entries {
            text += "<key>\(string(entry.host))</key>\n<dict>\n"
            text += "<key>TSKEnforcePinning</key><\(entry.isEnforced)/>\n"
            text += "<key>TSKIncludeSubdomains</key><\(entry.subdomains != .none)/>\n"
            if let expiry = entry.expiry {
                text += "<key>TSKExpirationDate</key><string>\(string(InternetTime.text(expiry)).prefix(10))</string>\n"
            }
            text += "<key>TSKPublicKeyHashes</key>\n<array>\n"
            for pin in entry.pins { text += "<string>\(string(pin.key.text(.base64)))</string>\n" }
            text += "</array>\n</dict>\n"
        }
        return text + "</dict>\n</dict>\n"
    }

    private static func pinnedDomains(_ entries: [PinListEntry]) -> String {
        var text = "<key>NSAppTransportSecurity</key>\n<dict>\n<key>NSPinnedDomains</key>\n<dict>\n"
        for entry in entries {
            text += "<key>\(string(entry.host))</key>\n<dict>\n"
            text += "<key>NSIncludesSubdomains</key><\(entry.subdomains != .none)/>\n"
            text += identities("NSPinnedCAIdentities", entry.pins.filter { $0.tier != .leaf })
            text += identities("NSPinnedLeafIdentities", entry.pins.filter { $0.tier == .leaf })
            text += "</dict>\n"
        }
        return text + "</dict>\n</dict>\n"
    }

    private static func identities(_ key: String, _ pins: [Pin]) -> String {
        guard !pins.isEmpty else { return "" }
        let items = pins.map { pin in
            "<dict><key>SPKI-SHA256-BASE64</key><string>\(string(pin.key.text(.base64)))</string></dict>\n"
        }
        return "<key>\(key)</key>\n<array>\n\(items.joined())</array>\n"
    }

    private static func android(_ entries: [PinListEntry]) -> String {
        var text = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<network-security-config>\n"
        for entry in entries {
            text += "  <domain-config>\n"
            text += "    <domain includeSubdomains=\"\(entry.subdomains != .none)\">\(string(entry.host))</domain>\n"
            let end = entry.expiry.map { " expiration=\"\(string(InternetTime.text($0)).prefix(10))\"" } ?? ""
            text += "    <pin-set\(end)>\n"
            for pin in entry.pins {
                text += "      <pin digest=\"SHA-256\">\(string(pin.key.text(.base64)))</pin>\n"
            }
            text += "    </pin-set>\n  </domain-config>\n"
        }
        return text + "</network-security-config>\n"
    }

    private static func okHTTP(_ policy: PinPolicy) -> String {
        var text = "CertificatePinner.Builder()\n"
        for rule in policy.rules where rule.mode != .trustOnly {
            for pin in rule.pins {
                text += "    .add(\"\(string(rule.pattern.text))\", \"\(string(pin.key.text(.okHTTP)))\")\n"
            }
        }
        return text + "    .build()\n"
    }

    private static func hpkp(_ entries: [PinListEntry]) -> String {
        let subdomains = entries.contains { $0.subdomains != .none } ? "; includeSubDomains" : ""
        return pins(entries, .hpkp).joined(separator: "; ") + "; max-age=5184000\(subdomains)\n"
    }
}
