// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyPinning
import Synchronization

/// Chains that were verified recently, so that a new connection costs a hash instead of signature checks.
///
/// Only acceptances are kept, for at most ten minutes and never beyond the expiry of a certificate or rule. A cache belongs to
/// one policy and one set of anchors; the policy's version is nevertheless part of every key.
final class VerifiedChainCache: Sendable {
    private struct Entry {
        let verdict: PinVerdict
        let first: UInt64
        let last: UInt64
    }

    private static let lifetime: UInt64 = 600
    private let capacity: Int
    private let entries = Mutex<[[UInt8]: Entry]>([:])

    init(capacity: Int) { self.capacity = capacity }

    /// The key for a chain that a host presents, in which every byte counts.
    static func key(_ presented: [[UInt8]], host: ServerName, policyVersion: UInt64) -> [UInt8] {
        var hash = SHA256()
        func add(_ number: UInt64) { withUnsafeBytes(of: number.bigEndian) { hash.update(bufferPointer: $0) } }
        add(policyVersion)
        for part in [host.text] + presented {
            add(UInt64(part.count))
            part.withUnsafeBytes { hash.update(bufferPointer: $0) }
        }
        return hash.finalize().withUnsafeBytes { Array($0) }
    }

    func verdict(_ key: [UInt8], at now: UInt64) -> PinVerdict? {
        entries.withLock { entries in
            guard let entry = entries[key] else { return nil }
            guard (entry.first...entry.last).contains(now) else {
                entries[key] = nil
                return nil
            }
            return entry.verdict
        }
    }

    func keep(_ verdict: PinVerdict, as key: [UInt8], rule: PinRule, at now: UInt64) {
        var last = now + Self.lifetime
        for der in verdict.path.certificates {
            guard let end = (try? CertificateFields(der)).flatMap({ UInt64(exactly: $0.notAfter) }) else { return }
            last = min(last, end)
        }
        if let expiry = rule.expiry, expiry.time >= now { last = min(last, expiry.time) }
        guard last >= now else { return }
        let entry = Entry(verdict: verdict, first: now, last: last)
        entries.withLock { entries in
            if entries.count >= capacity { entries.removeAll() }
            entries[key] = entry
        }
    }
}
