// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

// What makes the steps of a recovery. A browser's module, which only verifies, is built without it.

extension AccountState {
    /// The state that notes the start of a recovery.
    ///
    /// - Parameters:
    ///   - state: the account's last state.
    ///   - superseded: the request that `state` has pending, when it expired.
    ///   - sign: gives the 64-byte signature of the key that asks.
    /// - Throws: ``AccountStateError``.
    public init(
        starting start: RecoveryStart, superseding superseded: RecoveryStart?, after state: AccountState,
        with sign: ([UInt8]) throws -> [UInt8]
    ) throws(AccountStateError) {
        var writer = try Self.note(after: state, kind: 1)
        writer.write(start.encoded)
        writer.write(superseded.map { $0.endorsement == nil ? 2 : 1 } ?? 0 as UInt8)
        writer.write(superseded?.encoded ?? [])
        try self.init(signing: writer, about: state.authored) { AccountSignature.low(try sign($0)) }
    }

    /// The state that notes an objection.
    ///
    /// - Parameter sign: gives the 64-byte Ed25519 signature of the device.
    /// - Throws: ``AccountStateError``.
    public init(
        stopping stop: RecoveryStop, after state: AccountState, with sign: ([UInt8]) throws -> [UInt8]
    ) throws(AccountStateError) {
        var writer = try Self.note(after: state, kind: 2)
        writer.write(stop.device)
        writer.write(stop.time)
        try self.init(signing: writer, about: state.authored, with: sign)
    }

    private static func note(after state: AccountState, kind: UInt8) throws(AccountStateError) -> ByteWriter {
        guard state.version < UInt64.max else { throw .tooManyVersions }
        var writer = ByteWriter()
        writer.write(AccountStateForm.hashedKeys.note)
        writer.write(state.version + 1)
        writer.write(state.hash)
        writer.write(kind)
        return writer
    }

    private init(
        signing note: ByteWriter, about base: AccountState, with sign: ([UInt8]) throws -> [UInt8]
    ) throws(AccountStateError) {
        var writer = note
        writer.write(UInt16(truncatingIfNeeded: base.encoded.count))
        writer.write(base.encoded)
        let signature: [UInt8]
        do { signature = try sign(writer.bytes) } catch { throw .signingFailed }
        try self.init(decoding: writer.bytes + signature)
    }

    /// The first state under the identity key that asked.
    ///
    /// - Parameters:
    ///   - body: the new identity key and devices; neither recovery nor pending recovery.
    ///   - authorizing: gives the recovery key's 64-byte signature.
    ///   - accepting: gives the new identity key's.
    /// - Throws: ``AccountStateError``.
    public init(
        recovering body: AccountStateBody, by start: RecoveryStart, recoveryKey: [UInt8], at time: UInt64,
        authorizing: ([UInt8]) throws -> [UInt8], accepting: ([UInt8]) throws -> [UInt8]
    ) throws(AccountStateError) {
        var writer = ByteWriter()
        writer.write(AccountStateForm.hashedKeys.recovered)
        writer.write(body.fields)
        writer.write(start.encoded)
        writer.write(time)
        writer.write(recoveryKey)
        do {
            writer.write(AccountSignature.low(try authorizing(writer.bytes)))
            writer.write(AccountSignature.low(try accepting(writer.bytes)))
        } catch { throw .signingFailed }
        try self.init(decoding: writer.bytes)
    }
}
