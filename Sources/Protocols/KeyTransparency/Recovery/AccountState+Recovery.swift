// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto

// The two further forms of an account state; integers big-endian.
//
// A note about the last state that the owner signed:
// `signet-recovery-note/v2` LF; u64 version; 32-byte hash of the previous state; u8 kind; for 1, a start: 257 bytes of
// `RecoveryStart`, u8 0, 1 or 2 and, if 1, the 257 bytes of the expired one, if 2 its 153 (older form); for 2, a stop: u16 device
// number, u64 time; u16 length and that state; 64-byte signature over all before: by the identity key that asks (s is low), or
// by the device (Ed25519).
//
// A state under a recovered identity:
// `signet-recovered-account/v2` LF; everything as in `signet-account/v2` up to the devices; 257 bytes of
// `RecoveryStart`; u64 time; 33-byte recovery key; 64-byte signature by the recovery key over all before; 64-byte
// signature by the new identity key over all before; s of both is low.
//
// Of both there is a v1 that programs before made: every start in it has the older form, a device has its 1281 bytes of keys, s is
// low or high. It is read, so that old logs are; `AccountStepVerifier` lets no such start begin anything.
extension AccountState {
    /// Whether an encoded state is a step of a recovery: a note about one, or a takeover. Its first line says so.
    package static func isOfRecovery(_ encoded: [UInt8]) -> Bool {
        let state = withoutKeys(encoded)
        return AccountStateForm.allCases.contains { state.starts(with: $0.note) || state.starts(with: $0.recovered) }
    }

    /// The former guardians that an ordinary state names, of bytes that are known to be a state; nil when it names none.
    package static func formerRecovery(in encoded: [UInt8]) -> FormerRecovery? {
        let state = withoutKeys(encoded)
        guard let form = AccountStateForm.found(state, { $0.ordinary }) else { return nil }
        var reader = FormatReader<AccountStateError>(ByteReader(state.dropFirst(form.ordinary.count)))
        return (try? AccountStateBody(fields: &reader, form: form))?.formerRecovery
    }

    init(decodingNote bytes: [UInt8], _ form: AccountStateForm) throws(AccountStateError) {
        var reader = FormatReader<AccountStateError>(bytes)
        let isOlder = form == .wholeKeys
        _ = try reader.bytes(form.note.count)
        let version = try reader.uint64()
        let previous = Array(try reader.bytes(32))
        let (kind, start, superseded, stop) = try Self.noted(&reader, isOlder: isOlder)
        let base = try AccountState(decoding: Array(try reader.bytes(Int(try reader.uint16()))))
        guard base == base.authored, version > base.version, previous != AccountStateBody.noPredecessor else {
            throw .invalidRecovery(.invalidBase)
        }
        let signature = Array(try reader.bytes(64))
        try reader.end()
        let message = bytes.dropLast(64)
        switch (kind, start, stop) {
        case (1, let start?, _):
            guard AccountSignature.isValid(signature, over: message, by: start.identityKey) else {
                throw .invalidSignature
            }
            try form.check(signature)
            let body = AccountStateBody(base, version: version, previous: previous, pending: start.hash)
            self.init(
                body, step: .started(start, superseded: superseded, base: base), signature: signature,
                encoded: bytes)
        case (2, _, let stop?):
            guard let device = base.devices.first(where: { $0.number == stop.device }) else {
                throw .invalidRecovery(.noSuchDevice(stop.device))
            }
            guard AccountSignature.isValid(signature, over: message, byDevice: device.keys.signing) else {
                throw .invalidSignature
            }
            let body = AccountStateBody(base, version: version, previous: previous, pending: nil)
            self.init(body, step: .stopped(stop, base: base), signature: signature, encoded: bytes)
        default: throw .invalidRecovery(.invalidField)
        }
    }

    private static func noted(
        _ reader: inout FormatReader<AccountStateError>, isOlder: Bool
    ) throws(AccountStateError) -> (kind: UInt8, start: RecoveryStart?, superseded: RecoveryStart?, stop: RecoveryStop?)
    {
        let kind = try reader.uint8()
        guard kind == 1 else {
            return (kind, nil, nil, RecoveryStop(device: try reader.uint16(), time: try reader.uint64()))
        }
        let start = isOlder ? try RecoveryStart(older: &reader) : try RecoveryStart(from: &reader)
        switch (try reader.uint8(), isOlder) {
        case (0, _): return (kind, start, nil, nil)
        case (1, false): return (kind, start, try RecoveryStart(from: &reader), nil)
        case (1, true), (2, false): return (kind, start, try RecoveryStart(older: &reader), nil)
        default: throw .invalidRecovery(.invalidField)
        }
    }
}

// MARK: A state under a recovered identity

extension AccountState {
    init(decodingRecovered bytes: [UInt8], _ form: AccountStateForm) throws(AccountStateError) {
        var reader = FormatReader<AccountStateError>(bytes)
        _ = try reader.bytes(form.recovered.count)
        let body = try AccountStateBody(fields: &reader, form: form)
        let start = form == .wholeKeys ? try RecoveryStart(older: &reader) : try RecoveryStart(from: &reader)
        let time = try reader.uint64()
        let succession = RecoverySuccession(
            start: start, time: time, recoveryKey: Array(try reader.bytes(33)),
            authority: Array(try reader.bytes(64)))
        let signature = Array(try reader.bytes(64))
        try reader.end()
        try body.check()
        do throws(RecoveryStepFault) { try Self.check(succession, of: body, over: bytes.dropLast(128)) } catch {
            throw .invalidRecovery(error)
        }
        guard AccountSignature.isValid(signature, over: bytes.dropLast(64), by: body.identityKey) else {
            throw .invalidSignature
        }
        for signature in [succession.authority, signature] { try form.check(signature) }
        self.init(body, step: .recovered(succession), signature: signature, encoded: bytes)
    }

    /// What can be checked of a succession without the state before it: the checks in their order.
    private static func check(
        _ succession: RecoverySuccession, of body: AccountStateBody, over message: ArraySlice<UInt8>
    ) throws(RecoveryStepFault) {
        let (start, time) = (succession.start, succession.time)
        guard body.version > 1 else { throw .invalidBase }
        guard body.recoveryCommitment == nil, body.olderCommitment == nil, body.formerRecovery == nil,
            body.pendingRecovery == nil
        else { throw .stillRecoverable }
        guard body.identityKey == start.identityKey else { throw .notTheKeyThatAsked }
        guard time >= start.notBefore, time < start.expires else { throw .outsideItsTime }
        guard Array(SHA256.hash(data: succession.recoveryKey)) == start.commitment.keyHash else {
            throw .notTheCommittedKey
        }
        guard AccountSignature.isValid(succession.authority, over: message, by: succession.recoveryKey) else {
            throw .invalidAuthority
        }
    }
}

extension AccountStateBody {
    /// What a note says of the account: everything as it was, and another pending recovery.
    init(_ base: AccountState, version: UInt64, previous: [UInt8], pending: [UInt8]?) {
        self.init(
            handle: base.handle, version: version, previous: previous, identityKey: base.identityKey,
            recoveryCommitment: base.recoveryCommitment, pendingRecovery: pending, accountHead: base.accountHead,
            devices: base.devices, formerRecovery: base.formerRecovery, olderCommitment: base.olderCommitment,
            form: base.form)
    }
}
