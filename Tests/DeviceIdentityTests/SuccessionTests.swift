import CanonicalCoding
import Crypto
import DeviceIdentity
import KeyTransparency
import Testing
import VRF

/// An account with guardians set, and everything that a recovery of it needs.
struct RecoverableAccount {
    let oldKey = P256.Signing.PrivateKey()
    let newKey = P256.Signing.PrivateKey()
    let recoveryKey = P256.Signing.PrivateKey()
    let label = LabelIndex([UInt8](repeating: 3, count: 32))
    let request = [UInt8](repeating: 9, count: 32)
    let commitment: RecoveryCommitment

    init() throws {
        commitment = try RecoveryCommitment(
            epoch: 1, delay: RecoveryCommitment.standardDelay, recoveryKey: recoveryKey.publicBytes,
            bundle: bytes("bundle"))
    }

    func state(committed: Bool = true) throws -> AccountState {
        let keys = try DeviceKeys(
            signing: [UInt8](repeating: 1, count: 32), agreement: P256.Signing.PrivateKey().publicBytes,
            kem: [UInt8](repeating: 2, count: 1216))
        let body = AccountStateBody(
            handle: try Handle(typed: bytes("ming@example.org")), version: 1,
            previous: [UInt8](repeating: 0, count: 32), identityKey: oldKey.publicBytes,
            recoveryCommitment: committed ? commitment.hash : nil, pendingRecovery: nil, accountHead: nil,
            devices: [DeviceRecord(number: 1, addedAt: 1, keys: keys)])
        return try AccountState(signing: body, with: oldKey.rawSignature)
    }

    func recovery(
        after state: AccountState, by signer: P256.Signing.PrivateKey? = nil,
        key: P256.Signing.PrivateKey? = nil, commitment: RecoveryCommitment? = nil,
        accepting: P256.Signing.PrivateKey? = nil
    ) throws -> IdentitySuccession {
        let ground = try RecoveryGround(
            recoveryKey: (key ?? recoveryKey).publicBytes, commitment: commitment ?? self.commitment,
            request: request)
        return try IdentitySuccession(
            label: try #require(label), previousState: state.hash, oldKey: state.identityKey,
            newKey: newKey.publicBytes, authority: .recovery(ground),
            authorizing: (signer ?? recoveryKey).rawSignature, accepting: (accepting ?? newKey).rawSignature)
    }

    var logged: LoggedRecovery { LoggedRecovery(uncheckedRequest: request, notBefore: 5000) }

    func verify(
        _ succession: IdentitySuccession, after state: AccountState, logged: LoggedRecovery?, at now: UInt64 = 5000
    ) throws -> VerifiedIdentitySuccession {
        try IdentitySuccessionVerifier.verify(
            succession, of: try #require(label), after: state, logged: logged, at: now)
    }
}

@Suite struct SuccessionTests {
    let account: RecoverableAccount
    let state: AccountState

    init() throws {
        account = try RecoverableAccount()
        state = try account.state()
    }

    @Test func aLoggedRecoveryAfterItsDelayIsAccepted() throws {
        let verified = try account.verify(account.recovery(after: state), after: state, logged: account.logged)
        #expect(verified.isRecovery && verified.succession.newKey == account.newKey.publicBytes)
    }

    @Test func aRecoveryBeforeItsTimeIsRefused() throws {
        let succession = try account.recovery(after: state)
        #expect(throws: IdentitySuccessionError.tooEarly(until: 5000)) {
            try account.verify(succession, after: state, logged: account.logged, at: 4999)
        }
    }

    @Test func aRecoveryThatTheLogDoesNotHoldIsRefused() throws {
        let succession = try account.recovery(after: state)
        #expect(throws: IdentitySuccessionError.noLoggedRequest) {
            try account.verify(succession, after: state, logged: nil)
        }
        let other = LoggedRecovery(uncheckedRequest: [UInt8](repeating: 1, count: 32), notBefore: 0)
        #expect(throws: IdentitySuccessionError.noLoggedRequest) {
            try account.verify(succession, after: state, logged: other)
        }
    }

    @Test func anotherRecoveryKeyThanTheCommittedIsRefused() throws {
        let stranger = P256.Signing.PrivateKey()
        let succession = try account.recovery(after: state, by: stranger, key: stranger)
        #expect(throws: IdentitySuccessionError.notCommitted) {
            try account.verify(succession, after: state, logged: account.logged)
        }
    }

    @Test func anotherCommitmentThanTheStatesIsRefused() throws {
        let quick = try RecoveryCommitment(
            epoch: 1, delay: 0, recoveryKey: account.recoveryKey.publicBytes, bundle: bytes("bundle"))
        let succession = try account.recovery(after: state, commitment: quick)
        #expect(throws: IdentitySuccessionError.notCommitted) {
            try account.verify(succession, after: state, logged: account.logged)
        }
    }

    @Test func anAccountWithoutGuardiansCannotBeRecovered() throws {
        let bare = try account.state(committed: false)
        #expect(throws: IdentitySuccessionError.notRecoverable) {
            try account.verify(account.recovery(after: bare), after: bare, logged: account.logged)
        }
    }

    @Test func theRecoveryKeyHasToSign() throws {
        let succession = try account.recovery(after: state, by: account.newKey)
        #expect(throws: IdentitySuccessionError.invalidAuthority) {
            try account.verify(succession, after: state, logged: account.logged)
        }
    }

    @Test func theNewKeyHasToSign() throws {
        let succession = try account.recovery(after: state, accepting: account.oldKey)
        #expect(throws: IdentitySuccessionError.invalidNewSignature) {
            try account.verify(succession, after: state, logged: account.logged)
        }
    }

    @Test func aSuccessionOfAnotherStateDoesNotFollow() throws {
        let succession = try account.recovery(after: state)
        let other = try RecoverableAccount().state()
        #expect(throws: IdentitySuccessionError.doesNotFollow) {
            try account.verify(succession, after: other, logged: account.logged)
        }
    }

    @Test func aSuccessionOfAnotherAccountIsRefused() throws {
        let label = try #require(LabelIndex([UInt8](repeating: 4, count: 32)))
        let succession = try account.recovery(after: state)
        #expect(throws: IdentitySuccessionError.anotherAccount) {
            try IdentitySuccessionVerifier.verify(succession, of: label, after: state, logged: account.logged, at: 5000)
        }
    }

    private func planned(by signer: P256.Signing.PrivateKey) throws -> IdentitySuccession {
        try IdentitySuccession(
            label: try #require(account.label), previousState: state.hash, oldKey: state.identityKey,
            newKey: account.newKey.publicBytes, authority: .identityKey, authorizing: signer.rawSignature,
            accepting: account.newKey.rawSignature)
    }

    @Test func theOldKeyMayHandOverAtAnyTime() throws {
        let verified = try account.verify(planned(by: account.oldKey), after: state, logged: nil, at: 0)
        #expect(!verified.isRecovery)
        #expect(throws: IdentitySuccessionError.invalidAuthority) {
            try account.verify(planned(by: account.recoveryKey), after: state, logged: nil, at: 0)
        }
    }

    @Test func bothFormsComeBackAndNothingElseDoes() throws {
        for succession in [try planned(by: account.oldKey), try account.recovery(after: state)] {
            let encoded = succession.encoded
            #expect(try IdentitySuccession(decoding: encoded) == succession)
            for cut in 0..<encoded.count {
                #expect(throws: IdentitySuccessionError.self) {
                    try IdentitySuccession(decoding: Array(encoded.prefix(cut)))
                }
            }
            #expect(throws: IdentitySuccessionError.malformed(.trailingBytes(1))) {
                try IdentitySuccession(decoding: encoded + [0])
            }
        }
    }

    @Test func everyFlippedBitIsRefused() throws {
        let encoded = try account.recovery(after: state).encoded
        for bit in stride(from: 0, to: encoded.count * 8, by: 5) {
            var changed = encoded
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            guard let read = try? IdentitySuccession(decoding: changed) else { continue }
            #expect(read.encoded == changed)
            #expect(throws: (any Error).self) {
                try account.verify(read, after: state, logged: account.logged)
            }
        }
    }
}

@Suite struct IdentityKeyChangeTests {
    @Test func contactsSeeWhyAKeyChanged() throws {
        let account = try RecoverableAccount()
        let state = try account.state()
        let (old, new) = (account.oldKey.publicBytes, account.newKey.publicBytes)
        let recovery = try account.verify(account.recovery(after: state), after: state, logged: account.logged)
        #expect(IdentityKeyChange(from: old, to: old, by: []) == .none)
        #expect(IdentityKeyChange(from: old, to: new, by: [recovery]) == .recovered)
        #expect(IdentityKeyChange(from: old, to: new, by: []) == .unexplained)
        let stranger = P256.Signing.PrivateKey().publicBytes
        #expect(IdentityKeyChange(from: old, to: stranger, by: [recovery]) == .unexplained)
        #expect(IdentityKeyChange(from: stranger, to: new, by: [recovery]) == .unexplained)
        #expect(IdentityKeyChange(from: old, to: new, by: [recovery, recovery]) == .unexplained)
    }
}

@Suite struct RecoveryCommitmentTests {
    @Test func aCommitmentComesBack() throws {
        let commitment = try RecoverableAccount().commitment
        #expect(commitment.encoded.count == RecoveryCommitment.byteCount)
        #expect(try RecoveryCommitment(decoding: commitment.encoded) == commitment)
        #expect(throws: RecoveryCommitmentError.invalidLength(71)) {
            try RecoveryCommitment(decoding: commitment.encoded.dropLast())
        }
    }

    @Test func anEpochOfZeroAndADelayBeyondAMonthAreRefused() throws {
        let key = P256.Signing.PrivateKey().publicBytes
        #expect(throws: RecoveryCommitmentError.invalidEpoch) {
            try RecoveryCommitment(epoch: 0, delay: 0, recoveryKey: key, bundle: [])
        }
        #expect(throws: RecoveryCommitmentError.delayTooLong(2_592_001)) {
            try RecoveryCommitment(epoch: 1, delay: 2_592_001, recoveryKey: key, bundle: [])
        }
        #expect(throws: RecoveryCommitmentError.invalidKey) {
            try RecoveryCommitment(epoch: 1, delay: 0, recoveryKey: [2], bundle: [])
        }
    }

    @Test func eachFieldChangesTheHash() throws {
        let key = P256.Signing.PrivateKey().publicBytes
        let other = P256.Signing.PrivateKey().publicBytes
        let hashes = [
            try RecoveryCommitment(epoch: 1, delay: 1, recoveryKey: key, bundle: [1]).hash,
            try RecoveryCommitment(epoch: 2, delay: 1, recoveryKey: key, bundle: [1]).hash,
            try RecoveryCommitment(epoch: 1, delay: 2, recoveryKey: key, bundle: [1]).hash,
            try RecoveryCommitment(epoch: 1, delay: 1, recoveryKey: other, bundle: [1]).hash,
            try RecoveryCommitment(epoch: 1, delay: 1, recoveryKey: key, bundle: [2]).hash,
        ]
        #expect(Set(hashes).count == hashes.count)
    }
}
