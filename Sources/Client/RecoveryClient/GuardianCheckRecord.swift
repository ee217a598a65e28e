// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import KeyTransparency
import SecretSharing
public import SocialRecovery

/// A check of all guardians, and what they have shown so far.
public struct GuardianCheckRecord: Sendable {
    /// When they were asked, in seconds since 1970.
    public let asked: UInt64
    /// How it stands.
    public var standing: GuardianStanding { check.standing }

    private var check: GuardianCheck
    private var proofs: [(Handle, HoldingProof)] = []

    var challenges: [Handle: [UInt8]] { check.challenges }

    init(of setup: RecoverySetup, at now: UInt64, using generator: inout some RandomNumberGenerator) {
        asked = now
        check = GuardianCheck(of: setup, using: &generator)
    }

    mutating func take(
        _ proof: HoldingProof, to challenge: [UInt8], from handle: Handle
    ) throws(RecoverySetupError) {
        guard check.challenges[handle] == challenge else { throw .noSuchGuardian }
        try check.answered(handle, proof)
        proofs.append((handle, proof))
    }

    /// u64 time; u8 count and for each guardian u8 length and handle, 32-byte challenge; u8 count and for each proof u8
    /// length and handle, 64 bytes.
    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(asked)
        writer.write(UInt8(truncatingIfNeeded: check.challenges.count))
        for (handle, challenge) in check.challenges {
            writer.write(UInt8(truncatingIfNeeded: handle.bytes.count))
            writer.write(handle.bytes + challenge)
        }
        writer.write(UInt8(truncatingIfNeeded: proofs.count))
        for (handle, proof) in proofs {
            writer.write(UInt8(truncatingIfNeeded: handle.bytes.count))
            writer.write(handle.bytes + proof.signature)
        }
        return writer.bytes
    }

    init(decoding bytes: [UInt8], of setup: RecoverySetup) throws {
        var reader = ByteReader(bytes)
        asked = try reader.uint64()
        var challenges: [Handle: [UInt8]] = [:]
        for _ in 0..<(try reader.uint8()) {
            let handle = try Handle(canonical: Array(reader.bytes(Int(reader.uint8()))))
            challenges[handle] = Array(try reader.bytes(32))
        }
        check = GuardianCheck(of: setup, asking: challenges)
        for _ in 0..<(try reader.uint8()) {
            let handle = try Handle(canonical: Array(reader.bytes(Int(reader.uint8()))))
            guard let proof = HoldingProof(Array(try reader.bytes(HoldingProof.byteCount))) else {
                throw RecoveryFormatError.invalidField
            }
            try check.answered(handle, proof)
            proofs.append((handle, proof))
        }
        try reader.end()
    }
}
