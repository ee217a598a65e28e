// SPDX-License-Identifier: Apache-2.0

/// A way in which other tools write pins.
public enum PinListFormat: Hashable, Sendable, CaseIterable {
    /// TrustKit's dictionary in a property list.
    case trustKit
    /// Apple's `NSPinnedDomains` in a property list.
    case pinnedDomains
    /// Android's `network-security-config`.
    case android
    /// OkHttp's `CertificatePinner`: calls of `add` with a pattern and pins.
    case okHTTP
    /// curl's `--pinnedpubkey`: pins of one host, which is named beside.
    case curl
    /// The header of HTTP Public Key Pinning; the host is named beside.
    case hpkp
    /// Hashes of bare keys in hexadecimal, one per line; host and certificates are named separately. Cannot be written.
    case rawHex
}

/// The contents of one entry of a list, in any format.
public struct PinListEntry: Hashable, Sendable {
    /// Which hosts besides the one named.
    public enum Subdomains: Hashable, Sendable {
        /// None.
        case none
        /// Those with one label more.
        case oneLabel
        /// Those with any number of labels more.
        case anyDepth
    }

    /// The host.
    public var host: [UInt8]
    /// Whether the host itself is meant.
    public var includesHost = true
    /// Which others.
    public var subdomains = Subdomains.none
    /// The keys and where they may stand.
    public var pins: [Pin] = []
    /// Whether a mismatch ends the connection.
    public var isEnforced = true
    /// When the entry ends, in seconds since 1970.
    public var expiry: UInt64?

    /// An entry without pins.
    public init(host: [UInt8]) { self.host = host }

    /// The rules that say the same.
    ///
    /// None of the formats says which key is in reserve. It is every key outside of the server's chain if that is given,
    /// otherwise the last.
    ///
    /// - Parameter chain: the keys of the server's chain, or none if it is not known.
    /// - Throws: ``PinListFault``.
    public func rules(chain: [SPKIPin] = []) throws(PinListFault) -> [PinRule] {
        let marked = pins.enumerated().map { index, pin in
            let isBackup = chain.isEmpty ? index == pins.count - 1 : !chain.contains(pin.key)
            return Pin(pin.key, tier: pin.tier, isBackup: isBackup)
        }
        var rules: [PinRule] = []
        for pattern in try patterns() {
            do {
                rules.append(
                    try PinRule(
                        for: pattern, mode: isEnforced ? .enforce : .reportOnly, pins: marked,
                        expiry: expiry.map { PinExpiry(time: $0) }))
            } catch { throw .rule(error) }
        }
        return rules
    }

    private func patterns() throws(PinListFault) -> [HostPattern] {
        let prefixes =
            switch subdomains {
            case .none: includesHost ? [""] : []
            case .oneLabel: includesHost ? ["", "*."] : ["*."]
            case .anyDepth: includesHost ? ["", "**."] : ["**."]
            }
        var patterns: [HostPattern] = []
        for prefix in prefixes {
            do { patterns.append(try HostPattern(Array(prefix.utf8) + host)) } catch { throw .host(error) }
        }
        return patterns
    }
}

/// What a format cannot say, and so was left out or changed.
public enum PinListLoss: Hashable, Sendable {
    /// The entry's end.
    case expiry([UInt8])
    /// What happens at its end.
    case expiryAction([UInt8])
    /// Where keys may stand.
    case tiers([UInt8])
    /// Exclusions.
    case exclusions([UInt8])
    /// More hosts are covered than before.
    case widened([UInt8])
    /// Fewer hosts are covered than before.
    case narrowed([UInt8])
    /// That mismatches are reported and not refused.
    case reportOnly([UInt8])
    /// A host without pins.
    case trustOnly([UInt8])
    /// Which hosts the pins are for.
    case host([UInt8])
}

/// Why a list cannot be read or written.
public enum PinListFault: Error, Hashable, Sendable {
    /// Not the format. Lines count from 1.
    case malformed(line: Int)
    /// A pin that is none, as it was written.
    case pin(text: [UInt8], PinTextFault)
    /// A host that is none.
    case host(ServerNameFault)
    /// A rule that cannot be right.
    case rule(PinRuleFault)
    /// No pins in it.
    case empty
    /// The format does not name the host: it must be given.
    case needsHost
    /// No certificate was given that has this key.
    case needsCertificate(RawKeyHash)
    /// This format is read only.
    case cannotBeWritten
}
