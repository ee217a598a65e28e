// SPDX-License-Identifier: Apache-2.0

import KeyPinning
import X509

/// A path under scrutiny: each certificate with what was cut out of it, the server's own first, the anchor last.
struct CheckedPath {
    let chain: [Certificate]
    let fields: [CertificateFields?]
    let keys: [SPKIPin]

    init(_ chain: UnverifiedCertificateChain) {
        self.chain = Array(chain)
        fields = chain.map { try? CertificateFields(signed: $0.tbsCertificateBytes) }
        keys = fields.compactMap { $0?.pin }
    }

    func checkVersions() throws(PathFault) {
        for (depth, certificate) in chain.enumerated() where certificate.version != .v3 || fields[depth] == nil {
            throw .version(depth: depth)
        }
    }

    func checkDates(at now: UInt64) throws(PathFault) {
        let now = Int64(clamping: now)
        for case (let depth, let fields?) in fields.enumerated() {
            if now < fields.notBefore { throw .notYetValid(depth: depth) }
            if now > fields.notAfter { throw .expired(depth: depth) }
        }
    }

    /// Of all but the anchor, which is trusted as it is.
    func checkSerialNumbers() throws(PathFault) {
        for (depth, fields) in fields.dropLast().enumerated() {
            guard let number = fields?.serialNumber, let first = number.first, first < 0x80,
                (1...20).contains(number.drop { $0 == 0 }.count)
            else { throw .serialNumber(depth: depth) }
        }
    }

    /// The anchor's own signature is not relied on. RSA keys of fewer than 2048 bits the library does not read at all.
    func checkSignatures() throws(PathFault) {
        for (depth, certificate) in chain.enumerated().dropLast()
        where certificate.signatureAlgorithm == .sha1WithRSAEncryption {
            throw .weakSignature(depth: depth)
        }
    }

    func checkAuthorities() throws(PathFault) {
        var below = 0
        for (depth, certificate) in chain.enumerated() {
            if depth > 0, certificate.subject.isEmpty { throw .namelessAuthority(depth: depth) }
            let constraints = try extensions(depth) { try $0.basicConstraints }
            switch constraints {
            case .isCertificateAuthority where depth == 0: throw .authorityAsServer
            case .isCertificateAuthority(let maximum?) where maximum < below: throw .tooLong(depth: depth)
            case .isCertificateAuthority: if certificate.issuer != certificate.subject { below += 1 }
            case .notCertificateAuthority, nil: if depth > 0 { throw .notAnAuthority(depth: depth) }
            }
        }
    }

    func checkKeyUsage() throws(PathFault) {
        for depth in chain.indices {
            guard let usage = try extensions(depth, { try $0.keyUsage }) else { continue }
            let isRight = depth == 0 ? usage.digitalSignature && !usage.keyCertSign : usage.keyCertSign
            guard isRight else { throw .keyUsage(depth: depth) }
        }
    }

    func checkPurpose() throws(PathFault) {
        for depth in chain.indices where depth == 0 || depth + 1 < chain.count {
            guard let purposes = try extensions(depth, { try $0.extendedKeyUsage }) else { continue }
            guard purposes.contains(.serverAuth) || (depth > 0 && purposes.contains(.any)) else {
                throw .notForServers(depth: depth)
            }
        }
    }

    /// What an extension says; one that cannot be read is a fault.
    func extensions<Value>(
        _ depth: Int, _ read: (Certificate.Extensions) throws -> Value
    ) throws(PathFault) -> Value {
        do { return try read(chain[depth].extensions) } catch { throw .malformedExtension(depth: depth) }
    }
}
