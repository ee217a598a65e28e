// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import CanonicalCoding
public import Crypto

/// The secret of an epoch, 32 bytes, the same for every member.
///
/// Spec: HKDF with SHA-256 (RFC 5869, section 2.3), the secret as pseudo-random key.
///
/// Security: neither printable nor codable; swift-crypto wipes it. A holder of it has every later step of its
/// generation, and none before.
public struct GroupSecret: Sendable, Equatable {
    let key: SymmetricKey

    /// A secret from 32 bytes; nil for another length.
    public init?(_ key: SymmetricKey) {
        guard key.bitCount == 256 else { return nil }
        self.key = key
    }

    /// Fresh randomness.
    init(using generator: inout some RandomNumberGenerator) {
        key = SymmetricKey(data: (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }

    private init(expanding secret: SymmetricKey, _ label: StaticString, _ scope: CallScope, step: UInt8) {
        key = Self.expand(secret, label, scope, step: step)
    }

    /// The secret of the next step, from which this one cannot be computed.
    func turned(from step: UInt8, in scope: CallScope) -> GroupSecret {
        GroupSecret(expanding: key, "signet-call-step/v1", scope, step: step)
    }

    /// What frame keys of a step are derived from; tells nothing of other steps.
    func mediaKey(step: UInt8, in scope: CallScope) -> SymmetricKey {
        Self.expand(key, "signet-call-media/v1", scope, step: step)
    }

    /// 32 bytes that only this secret has and that tell nothing of it.
    func commitment(in scope: CallScope) -> [UInt8] {
        Self.expand(key, "signet-call-commitment/v1", scope, step: 0).withUnsafeBytes { Array($0) }
    }

    private static func expand(
        _ key: SymmetricKey, _ label: StaticString, _ scope: CallScope, step: UInt8
    ) -> SymmetricKey {
        var info = ByteWriter()
        info.write(label)
        info.write(scope.callID.bytes)
        info.write(scope.term)
        info.write(scope.generation)
        info.write(step)
        return HKDF<SHA256>.expand(pseudoRandomKey: key, info: info.bytes, outputByteCount: 32)
    }
}

/// Which secret of which call: goes into everything that is derived.
struct CallScope: Hashable, Sendable {
    let callID: CallID
    let term: UInt32
    let generation: UInt32

    func epoch(_ step: UInt8) -> Epoch { Epoch(term: term, generation: generation, step: step) }
}
