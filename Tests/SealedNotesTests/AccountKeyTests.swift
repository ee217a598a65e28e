// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyTransparency
import NoteLog
import SeededRandomness
import Testing

@testable import SealedNotes

/// The account master key and its wraps.
struct AccountKeyTests {
    let alice, bob: Person
    let account: AccountMasterKey
    let exportKey = SymmetricKey(data: [UInt8](repeating: 8, count: 64))

    init() throws {
        alice = try Person("alice", deviceCount: 2)
        bob = try Person("bob")
        account = AccountMasterKey.generate(for: alice.handle, epoch: 3)
    }

    // MARK: password and recovery key

    @Test func passwordAndRecoveryKeyOpenTheSameKey() throws {
        let recovery = RecoveryKey.generate()
        let byPassword = try AccountKeyWrap(account, exportKey: exportKey)
        let byRecovery = try AccountKeyWrap(account, recoveryKey: recovery)
        for wrap in [byPassword, byRecovery] { #expect(try AccountKeyWrap(decoding: wrap.encoded) == wrap) }
        let first = try byPassword.open(exportKey: exportKey, of: alice.handle)
        let second = try byRecovery.open(recoveryKey: recovery, of: alice.handle)
        #expect(first.commitment == account.commitment && second.commitment == account.commitment)
        #expect(first.epoch == 3)
    }

    @Test func anotherPasswordRecoveryKeyAccountOrKindOpensNothing() throws {
        let recovery = RecoveryKey.generate()
        let wrap = try AccountKeyWrap(account, exportKey: exportKey)
        let printed = try AccountKeyWrap(account, recoveryKey: recovery)
        let other = SymmetricKey(data: [UInt8](repeating: 9, count: 64))
        #expect(throws: SealedNoteError.notOpened) { try wrap.open(exportKey: other, of: alice.handle) }
        #expect(throws: SealedNoteError.notOpened) { try printed.open(recoveryKey: .generate(), of: alice.handle) }
        #expect(throws: SealedNoteError.notForThisDevice) { try wrap.open(exportKey: exportKey, of: bob.handle) }
        #expect(throws: SealedNoteError.notForThisDevice) { try wrap.open(recoveryKey: recovery, of: alice.handle) }
        #expect(throws: SealedNoteError.notForThisDevice) { try printed.open(exportKey: exportKey, of: alice.handle) }
    }

    /// Kind, account, epoch, nonce, ciphertext, tag: a server that changes any byte gets an error.
    @Test func everyChangedByteOfAWrapIsRefused() throws {
        let wrap = try AccountKeyWrap(account, exportKey: exportKey).encoded
        let own = try OwnWrap(NoteKey.generate(note: Notebook(owner: alice).note, epoch: 1), under: account).encoded
        for index in wrap.indices {
            var bytes = wrap
            bytes[index] ^= 1
            #expect(throws: SealedNoteError.self, "byte \(index)") {
                try AccountKeyWrap(decoding: bytes).open(exportKey: exportKey, of: alice.handle)
            }
        }
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<5000 {
            let mutant = generator.mutant(of: wrap)
            if let read = try? AccountKeyWrap(decoding: mutant) { #expect(read.encoded == mutant) }
            let other = generator.mutant(of: own)
            if let read = try? OwnWrap(decoding: other) { #expect(read.encoded == other) }
        }
    }

    @Test func aNewPasswordReplacesOneWrap() throws {
        var book = try Notebook(owner: alice)
        let own = try OwnWrap(book.key, under: account)
        let opened = try AccountKeyWrap(account, exportKey: exportKey).open(exportKey: exportKey, of: alice.handle)
        let next = SymmetricKey(data: [UInt8](repeating: 10, count: 64))
        let row = try AccountKeyWrap(opened, exportKey: next)
        let after = try row.open(exportKey: next, of: alice.handle)
        #expect(try own.open(with: after, control: book.control([alice])).commitment == book.key.commitment)
        try book.rekey(by: alice)
        #expect(throws: SealedNoteError.notOpened) { try row.open(exportKey: exportKey, of: alice.handle) }
    }

    // MARK: own notes

    @Test func anOwnNotesKeyOpensUnderItsAccountKeyAndLogOnly() throws {
        var book = try Notebook(owner: alice)
        let wrap = try OwnWrap(book.key, under: account)
        #expect(try OwnWrap(decoding: wrap.encoded) == wrap)
        let control = try book.control([alice])
        #expect(try wrap.open(with: account, control: control).commitment == book.key.commitment)
        let other = AccountMasterKey.generate(for: alice.handle, epoch: 3)
        #expect(throws: SealedNoteError.notOpened) { try wrap.open(with: other, control: control) }
        let epoch = AccountMasterKey(handle: alice.handle, epoch: 4, secret: account.secret)
        #expect(throws: SealedNoteError.anotherKey) { try wrap.open(with: epoch, control: control) }
        let bobs = AccountMasterKey(handle: bob.handle, epoch: 3, secret: account.secret)
        #expect(throws: SealedNoteError.anotherKey) { try wrap.open(with: bobs, control: control) }
        let stranger = try Notebook(owner: alice)
        #expect(throws: SealedNoteError.notOfThisNote) {
            try wrap.open(with: account, control: stranger.control([alice]))
        }
        // Of an epoch that the log does not have, and with a key that it did not commit to.
        let future = try OwnWrap(NoteKey.generate(note: book.note, epoch: 2), under: account)
        #expect(throws: SealedNoteError.notOfThisNote) { try future.open(with: account, control: control) }
        let foreign = try OwnWrap(NoteKey.generate(note: book.note, epoch: 1), under: account)
        #expect(throws: SealedNoteError.anotherCommitment) { try foreign.open(with: account, control: control) }
        try book.rekey(by: alice)
        #expect(try wrap.open(with: account, control: book.control([alice])).epoch == 1)
    }

    // MARK: devices

    private func wrap(
        to device: Int = 1, by sender: Int = 0, of person: Person? = nil, suite: WrapSuite = .xWing
    ) throws -> AccountDeviceWrap {
        let recipient = WrapRecipient.devices(of: try (person ?? alice).lookup())[device]
        return try AccountDeviceWrap(
            account, to: recipient, sender: alice.author(sender), suite: suite, with: alice.sign(sender))
    }

    @Test(arguments: WrapSuite.allCases) func aNewDeviceGetsTheKeyFromAnOldOne(suite: WrapSuite) throws {
        let made = try wrap(suite: suite)
        #expect(try AccountDeviceWrap(decoding: made.encoded) == made)
        let opened = try made.open(with: alice.agreementKeys(1), own: alice.keys())
        #expect(opened.commitment == account.commitment)
    }

    @Test func aServersOwnKeyIsRefused() throws {
        // Everything is right but the device that signed.
        let foreign = AccountMasterKey.generate(for: alice.handle, epoch: 3)
        let recipient = WrapRecipient.devices(of: try alice.lookup())[1]
        let author = Author(handle: alice.handle, device: bob.devices[0].keys.signing)
        let made = try AccountDeviceWrap(foreign, to: recipient, sender: author, with: bob.sign())
        #expect(throws: SealedNoteError.noAuthority) { try made.open(with: alice.agreementKeys(1), own: alice.keys()) }
    }

    @Test func aRemovedDevicesWrapIsRefused() throws {
        let made = try wrap(to: 0, by: 1)
        let now = try alice.replacingDevice()
        #expect(throws: SealedNoteError.noAuthority) { try made.open(with: alice.agreementKeys(0), own: now.keys()) }
    }

    @Test func anotherDeviceOrAccountOpensNothing() throws {
        let made = try wrap()
        #expect(throws: SealedNoteError.notForThisDevice) {
            try made.open(with: alice.agreementKeys(0), own: alice.keys())
        }
        #expect(throws: SealedNoteError.notForThisDevice) { try made.open(with: bob.agreementKeys(), own: bob.keys()) }
        #expect(throws: SealedNoteError.notAMember) { try wrap(to: 0, of: bob) }
    }

    @Test func anAlteredDeviceWrapIsRefused() throws {
        let made = try wrap().encoded
        for index in stride(from: 0, to: made.count, by: 5) {
            var bytes = made
            bytes[index] ^= 1
            #expect(throws: SealedNoteError.self) { try AccountDeviceWrap(decoding: bytes) }
        }
        var generator = SeededGenerator(seed: 6)
        for _ in 0..<2000 { _ = try? AccountDeviceWrap(decoding: generator.mutant(of: made)) }
    }
}
