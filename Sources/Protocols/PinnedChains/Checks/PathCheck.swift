// SPDX-License-Identifier: Apache-2.0

import KeyPinning
import SwiftASN1
import X509

/// Everything that must hold for a path besides its signatures, in this order; the pin comes last.
///
/// | check | Spec |
/// |---|---|
/// | version 3 | RFC 5280 4.1.2.1 |
/// | dates | RFC 5280 6.1.3 (a)(2) |
/// | serial numbers | RFC 5280 4.1.2.2 |
/// | no SHA-1 | CA/Browser Forum Baseline Requirements 7.1.3.2 |
/// | authorities, their names, path length | RFC 5280 6.1.4 (k)–(m), 4.1.2.6 |
/// | key usage | RFC 5280 6.1.4 (n), 4.2.1.3 |
/// | for servers | RFC 5280 4.2.1.12, of every authority below the anchor too |
/// | the host's name | RFC 9525 6.3: subjectAltName only; no wildcard over a registry |
/// | name constraints | RFC 5280 6.1.3 (b), (c), 4.2.1.10; a wildcard counts as every name it stands for |
/// | pin | RFC 7469 2.6 |
///
/// The library calls it for each path it can build, and takes the next one when it says no.
struct PathCheck: VerifierPolicy, Sendable {
    let rule: PinRule?
    let host: ServerName
    let now: UInt64

    /// What was found, path by path.
    private(set) var candidates: [(path: CheckedPath, fault: PathFault?)] = []
    /// A path passed every check but the pin's.
    private(set) var hasTrustedPath = false
    /// What was accepted.
    private(set) var accepted: (path: CheckedPath, basis: PinVerdict.Basis)?
    /// What speaks against the path that came furthest.
    private(set) var bestFault: PathFault?
    private var bestProgress = -1
    private var names = NameBudget()

    static let knownExtensions: [ASN1ObjectIdentifier] = [
        .X509ExtensionID.basicConstraints, .X509ExtensionID.nameConstraints, .X509ExtensionID.keyUsage,
        .X509ExtensionID.extendedKeyUsage, .X509ExtensionID.subjectAlternativeName,
    ]
    var verifyingCriticalExtensions: [ASN1ObjectIdentifier] { Self.knownExtensions }

    init(rule: PinRule?, host: ServerName, now: UInt64) {
        self.rule = rule
        self.host = host
        self.now = now
    }

    mutating func chainMeetsPolicyRequirements(chain: UnverifiedCertificateChain) -> PolicyEvaluationResult {
        let path = CheckedPath(chain)
        var progress = 0
        do { try check(path, &progress) } catch {
            note(error, progress, path)
            return .failsToMeetPolicy(reason: "")
        }
        guard let basis = basis(for: path) else {
            if rule?.mode == .reportOnly, !hasTrustedPath { accepted = (path, .reportOnly) }
            hasTrustedPath = true
            candidates.append((path, nil))
            return .failsToMeetPolicy(reason: "")
        }
        accepted = (path, basis)
        return .meetsPolicy
    }

    /// - Parameter progress: how many checks the path has passed.
    private mutating func check(_ path: CheckedPath, _ progress: inout Int) throws(PathFault) {
        try path.checkVersions()
        progress += 1
        try path.checkDates(at: now)
        progress += 1
        try path.checkSerialNumbers()
        progress += 1
        try path.checkSignatures()
        progress += 1
        try path.checkAuthorities()
        progress += 1
        try path.checkKeyUsage()
        progress += 1
        try path.checkPurpose()
        progress += 1
        try path.checkName(host, &names)
        progress += 1
        try path.checkNameConstraints(&names)
    }

    private func basis(for path: CheckedPath) -> PinVerdict.Basis? {
        rule?.mode == .trustOnly ? .trustOnly : rule?.match(path.keys).map { .pinned($0) }
    }

    private mutating func note(_ fault: PathFault, _ progress: Int, _ path: CheckedPath) {
        candidates.append((path, fault))
        guard progress > bestProgress else { return }
        bestProgress = progress
        bestFault = fault
    }
}
