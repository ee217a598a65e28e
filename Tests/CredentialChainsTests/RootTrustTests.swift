// SPDX-License-Identifier: Apache-2.0

import CredentialChains
import Crypto
import Foundation
import JOSE
import StrictJSON
import SwiftASN1
import Testing
import X509

/// Chains made here, each bad one with one fault.
struct RootTrustTests {
    struct Party {
        let name: DistinguishedName
        let key = P256.Signing.PrivateKey()

        init(_ name: String) throws { self.name = try DistinguishedName { CommonName(name) } }
    }

    static let now: Int64 = 1_800_000_000
    let root: Party
    let middle: Party
    let leaf: Party

    init() throws { (root, middle, leaf) = (try Party("root"), try Party("middle"), try Party("leaf")) }

    private static let authority = BasicConstraints.isCertificateAuthority(maxPathLength: nil)

    private func certificate(
        of subject: Party, by issuer: Party, _ constraints: BasicConstraints = .notCertificateAuthority,
        usage: KeyUsage? = nil, validFor seconds: ClosedRange<Int64> = -60...60, extra: Certificate.Extension? = nil,
        key: P256.Signing.PrivateKey? = nil
    ) throws -> [UInt8] {
        var extensions = try Certificate.Extensions {
            Critical(constraints)
            SubjectAlternativeNames([.dnsName("shop.example"), .uniformResourceIdentifier("https://cred.example")])
        }
        if let usage { try extensions.append(Certificate.Extension(usage, critical: true)) }
        if let extra { try extensions.append(extra) }
        let certificate = try Certificate(
            version: .v3, serialNumber: .init(), publicKey: .init(subject.key.publicKey),
            notValidBefore: Date(timeIntervalSince1970: Double(Self.now + seconds.lowerBound)),
            notValidAfter: Date(timeIntervalSince1970: Double(Self.now + seconds.upperBound)),
            issuer: issuer.name, subject: subject.name, signatureAlgorithm: .ecdsaWithSHA256, extensions: extensions,
            issuerPrivateKey: .init(key ?? issuer.key))
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        return serializer.serializedBytes
    }

    private func trust() throws -> RootTrust {
        try RootTrust(roots: [try certificate(of: root, by: root, Self.authority)])
    }

    private func fault(_ chain: [[UInt8]], _ trust: RootTrust? = nil) throws -> CertificateTrustFault? {
        let trust = try trust ?? self.trust()
        do throws(CertificateTrustFault) {
            _ = try trust.signer(of: chain, at: Self.now)
            return nil
        } catch { return error }
    }

    @Test func aChainToARootGivesKeyAndNames() throws {
        let own = try certificate(of: leaf, by: middle)
        let signer = try trust().signer(of: [own, try certificate(of: middle, by: root, Self.authority)], at: Self.now)
        #expect(signer.key.rawRepresentation == leaf.key.publicKey.rawRepresentation)
        #expect(signer.hosts == ["shop.example"])
        #expect(signer.identifiers == ["https://cred.example"])
        #expect(signer.certificate == own)
        #expect(try fault([try certificate(of: leaf, by: root)]) == nil)
    }

    @Test func aChainMayContainItsRoot() throws {
        let own = try certificate(of: root, by: root, Self.authority)
        let trust = try RootTrust(roots: [own])
        #expect(try fault([try certificate(of: leaf, by: root), own], trust) == nil)
        #expect(try fault([own], trust) == .chain)
    }

    @Test func chain_refusesACertificateThatNoRootSigned() throws {
        #expect(try fault([try certificate(of: leaf, by: middle)]) == .chain)
        #expect(try fault([try certificate(of: leaf, by: leaf)]) == .chain)
        #expect(try fault([try certificate(of: leaf, by: root, key: middle.key)]) == .chain)
        #expect(try fault([]) == .chain)
        let between = try certificate(of: middle, by: root, Self.authority)
        #expect(try fault([try certificate(of: leaf, by: middle, key: root.key), between]) == .chain)
    }

    @Test func chain_refusesASignerThatMayNotCertify() throws {
        let own = try certificate(of: leaf, by: middle)
        #expect(try fault([own, try certificate(of: middle, by: root)]) == .chain)
        let usage = KeyUsage(digitalSignature: true)
        #expect(try fault([own, try certificate(of: middle, by: root, Self.authority, usage: usage)]) == .chain)
        let signing = KeyUsage(keyCertSign: true)
        #expect(try fault([own, try certificate(of: middle, by: root, Self.authority, usage: signing)]) == nil)
        #expect(try fault([try certificate(of: leaf, by: root, Self.authority)]) == .chain)
    }

    @Test func chain_refusesALongerPathThanItsRootAllows() throws {
        let short = BasicConstraints.isCertificateAuthority(maxPathLength: 0)
        let trust = try RootTrust(roots: [try certificate(of: root, by: root, short)])
        let between = try certificate(of: middle, by: root, Self.authority)
        #expect(try fault([try certificate(of: leaf, by: root)], trust) == nil)
        #expect(try fault([try certificate(of: leaf, by: middle), between], trust) == .chain)
    }

    @Test func chain_refusesACertificateOutsideItsTime() throws {
        for seconds in [-60...(-1), 1...60] as [ClosedRange<Int64>] {
            #expect(try fault([try certificate(of: leaf, by: root, validFor: seconds)]) == .validity)
            let between = try certificate(of: middle, by: root, Self.authority, validFor: seconds)
            #expect(try fault([try certificate(of: leaf, by: middle), between]) == .validity)
            let old = try RootTrust(roots: [try certificate(of: root, by: root, Self.authority, validFor: seconds)])
            #expect(try fault([try certificate(of: leaf, by: root)], old) == .validity)
        }
        #expect(try fault([try certificate(of: leaf, by: root, validFor: 0...0)]) == nil)
    }

    @Test func chain_refusesUnknownCriticalExtensions() throws {
        for isCritical in [false, true] {
            let extra = Certificate.Extension(oid: [1, 3, 6, 1, 4, 1, 99], critical: isCritical, value: [5, 0])
            #expect(try fault([try certificate(of: leaf, by: root, extra: extra)]) == (isCritical ? .chain : nil))
        }
    }

    @Test func chain_refusesTooManyAndTooLongCertificates() throws {
        let own = try certificate(of: leaf, by: root)
        #expect(try fault([own] + [[UInt8]](repeating: own, count: 5)) == .chain)
        let extra = Certificate.Extension(
            oid: [1, 3, 6, 1, 4, 1, 99], critical: false,
            value: [4, 0x82, 0x20, 0][...] + [UInt8](repeating: 0, count: 8192))
        #expect(try fault([try certificate(of: leaf, by: root, extra: extra)]) == .chain)
        #expect(throws: RootTrustFault.malformed(index: 0)) { try RootTrust(roots: [[1]]) }
    }
}
