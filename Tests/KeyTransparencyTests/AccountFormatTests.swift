// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import Foundation
import KeyTransparency
import ProtocolTesting
import Testing
import TransparencyLog
import VRF

@Suite struct HandleTests {
    @Test(arguments: ["alice@example.org", "a@b", "a.b_c+d-e@x-1.y2.org", "9@localhost"])
    func handlesRoundTrip(text: String) throws {
        #expect(try Handle(canonical: Array(text.utf8)).description == text)
    }

    @Test func typedUpperCaseBecomesTheOneSpelling() throws {
        let handle = try Handle(typed: Array("Alice@Example.ORG".utf8))
        #expect(handle.description == "alice@example.org")
        #expect(throws: HandleError.invalidLocalPart) { try Handle(canonical: Array("Alice@example.org".utf8)) }
    }

    @Test(arguments: [
        ("", HandleError.notOneAtSign), ("alice", .notOneAtSign), ("a@b@c", .notOneAtSign),
        ("@b", .invalidLocalPart), ("a b@c", .invalidLocalPart), ("al\u{ef}ce@c", .invalidLocalPart),
        ("a\n@c", .invalidLocalPart), (String(repeating: "a", count: 65) + "@b", .invalidLocalPart),
        ("a@", .invalidDomain), ("a@b..c", .invalidDomain), ("a@-b", .invalidDomain), ("a@b-", .invalidDomain),
        ("a@b_c", .invalidDomain), ("a@b\n", .invalidDomain),
        ("a@" + String(repeating: "b", count: 64), .invalidDomain),
        ("a@" + Array(repeating: "b", count: 127).joined(separator: "."), .tooLong(255)),
    ])
    func refuses(text: String, expected: HandleError) {
        #expect(throws: expected) { try Handle(canonical: Array(text.utf8)) }
    }

    @Test func labelsOfTheHandleDoNotMeetOtherUsesOfTheKey() throws {
        let input = try Handle(typed: Array("a@b".utf8)).vrfInput
        #expect(input == Array("signet-label/v1\na@b".utf8))
    }
}

@Suite struct AccountStateTests {
    let person: PaperPerson

    init() throws { person = try PaperPerson("alice@example.org", seed: 10) }

    @Test func anAccountStateRoundTrips() throws {
        let state = try person.state()
        #expect(try AccountState(decoding: state.encoded) == state)
        #expect(state.hash == Array(SHA256.hash(data: state.encoded)))
    }

    @Test func aStateFollowsItsPredecessorOnlyByOneStepUnderOneIdentity() throws {
        let first = try AccountState(decoding: person.encodedState)
        let second = try AccountState(decoding: person.next(devices: person.devices).encodedState)
        #expect(first.isFollowed(by: second))
        #expect(!first.isFollowed(by: first))
        #expect(!second.isFollowed(by: first))
        let third = try AccountState(
            decoding: person.next(devices: person.devices).next(devices: person.devices).encodedState)
        #expect(!first.isFollowed(by: third))
        let other = try PaperPerson("alice@example.org", seed: 11)
        #expect(!first.isFollowed(by: try AccountState(decoding: other.next(devices: other.devices).encodedState)))
    }

    @Test func everyTruncationAndEveryTrailingByteIsRefused() throws {
        let bytes = try person.state().encoded
        for count in stride(from: 0, to: bytes.count, by: 1) {
            #expect(throws: AccountStateError.self) { try AccountState(decoding: Array(bytes.prefix(count))) }
        }
        #expect(throws: AccountStateError.malformed(.trailingBytes(1))) {
            try AccountState(decoding: bytes + [0])
        }
    }

    /// Signs a body whose bytes were edited, so that only the edited rule can refuse it.
    func edited(_ edit: (inout [UInt8]) -> Void) throws -> [UInt8] {
        var body = Array(try person.state().encoded.dropLast(64))
        edit(&body)
        return body + Array(try person.identity.signature(for: body).rawRepresentation)
    }

    static let handleEnd = 18 + 1 + 17

    /// The neutral element: with it, anybody could sign the device's requests.
    @Test func deviceRecord_refusesAKeyOfSmallOrder() throws {
        let keys = try #require(try person.state().devices.first).keys
        let identity = [1] + [UInt8](repeating: 0, count: 31)
        #expect(throws: AccountStateError.invalidDeviceKey) {
            try DeviceKeys(signing: identity, agreement: keys.agreement, kem: [UInt8](repeating: 1, count: 1216))
        }
        let state = try edited { bytes in
            let start = bytes.indices.first { bytes[$0...].starts(with: keys.signing) } ?? 0
            bytes.replaceSubrange(start..<start + 32, with: identity)
        }
        #expect(throws: AccountStateError.invalidDeviceKey) { try AccountState(decoding: state) }
    }

    @Test func accountState_refusesVersionZeroAndAFirstStateWithAPredecessor() throws {
        let zero = try edited { $0[Self.handleEnd + 7] = 0 }
        #expect(throws: AccountStateError.invalidVersion(0)) { try AccountState(decoding: zero) }
        let withPredecessor = try edited { $0[Self.handleEnd + 8] = 1 }
        #expect(throws: AccountStateError.invalidVersion(1)) { try AccountState(decoding: withPredecessor) }
        let withoutPredecessor = try edited { $0[Self.handleEnd + 7] = 2 }
        #expect(throws: AccountStateError.invalidVersion(2)) { try AccountState(decoding: withoutPredecessor) }
    }

    @Test func accountState_refusesAnIdentityKeyOffTheCurve() throws {
        let bytes = try edited { $0[Self.handleEnd + 40] = 5 }
        #expect(throws: AccountStateError.invalidIdentityKey) { try AccountState(decoding: bytes) }
    }

    @Test func accountState_refusesAPresenceByteOfTwo() throws {
        let bytes = try edited { $0[Self.handleEnd + 74] = 2 }
        #expect(throws: AccountStateError.invalidPresenceByte(2)) { try AccountState(decoding: bytes) }
    }

    @Test func accountState_refusesNoDeviceAndTooMany() throws {
        let none = try edited {
            $0[Self.handleEnd + 76] = 0
            $0.removeLast(2 * 107)
        }
        #expect(throws: AccountStateError.invalidDeviceCount(0)) { try AccountState(decoding: none) }
        let many = try (1...25).map { try PaperPerson.device(UInt16($0), seed: UInt8($0)) }
        let body = AccountStateBody(
            first: person.handle, identityKey: Array(person.identity.publicKey.compressedRepresentation),
            devices: many)
        #expect(throws: AccountStateError.invalidDeviceCount(25)) {
            try AccountState(signing: body) { _ in [] }
        }
    }

    @Test func accountState_refusesDevicesOutOfOrderOrNumberedZero() throws {
        let start = Self.handleEnd + 77
        let swapped = try edited { $0[start + 1] = 3 }
        #expect(throws: AccountStateError.devicesOutOfOrder) { try AccountState(decoding: swapped) }
        let zero = try edited { $0[start + 1] = 0 }
        #expect(throws: AccountStateError.devicesOutOfOrder) { try AccountState(decoding: zero) }
    }

    @Test func accountState_refusesOneSigningKeyOnTwoDevices() throws {
        let start = Self.handleEnd + 77
        let bytes = try edited { bytes in
            for offset in 10..<42 { bytes[start + 107 + offset] = bytes[start + offset] }
        }
        #expect(throws: AccountStateError.repeatedDeviceKey) { try AccountState(decoding: bytes) }
    }

    @Test func accountState_refusesAnAgreementKeyOffTheCurve() throws {
        let bytes = try edited { $0[Self.handleEnd + 77 + 10 + 32] = 9 }
        #expect(throws: AccountStateError.invalidDeviceKey) { try AccountState(decoding: bytes) }
    }

    @Test func accountState_refusesToBeSignedByAnotherKey() throws {
        let other = try P256.Signing.PrivateKey(rawRepresentation: [UInt8](repeating: 3, count: 32))
        #expect(throws: AccountStateError.invalidSignature) {
            try AccountState(signing: person.body()) {
                try Array(other.signature(for: $0).rawRepresentation)
            }
        }
        struct Unavailable: Error {}
        #expect(throws: AccountStateError.signingFailed) {
            try AccountState(signing: person.body()) { _ in throw Unavailable() }
        }
    }
}

/// The two forms of a state, and the keys beside one of the second.
@Suite struct AccountStateFormTests {
    let person: PaperPerson
    private let order: [UInt8]

    init() throws {
        person = try PaperPerson("alice@example.org", seed: 10)
        order = try Hex.decode(Array("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551".utf8))
    }

    /// The same bytes with the signature at their end in its other spelling, (r, n - s).
    private func respelled(_ bytes: [UInt8]) -> [UInt8] {
        var (changed, borrow) = (bytes, 0)
        for place in (0..<32).reversed() {
            let value = Int(order[place]) - Int(bytes[bytes.count - 32 + place]) - borrow
            borrow = value < 0 ? 1 : 0
            changed[bytes.count - 32 + place] = UInt8(truncatingIfNeeded: value)
        }
        return changed
    }

    private func state(_ form: AccountStateForm) throws -> AccountState {
        let body = AccountStateBody(
            handle: person.handle, version: 1, previous: [UInt8](repeating: 0, count: 32),
            identityKey: Array(person.identity.publicKey.compressedRepresentation), recoveryCommitment: nil,
            pendingRecovery: nil, accountHead: nil, devices: person.devices, form: form)
        return try AccountState(signing: body) { try Array(person.identity.signature(for: $0).rawRepresentation) }
    }

    // MARK: One spelling

    /// The attack: whoever passes a state on gives it another hash, and the log another entry than was sent.
    @Test func aSignatureInItsOtherSpellingIsRefused() throws {
        let bytes = try state(.hashedKeys).encoded
        #expect(throws: AccountStateError.highSignature) { try AccountState(decoding: respelled(bytes)) }
        // It was the signature that was changed, and it still was one: in the first form it is taken.
        let old = try state(.wholeKeys)
        let other = try AccountState(decoding: respelled(old.encoded))
        #expect(other.hash != old.hash && respelled(other.encoded) == old.encoded)
    }

    @Test func recoverySignaturesInTheirOtherFormAreRefused() throws {
        let account = try RecoverableAccount()
        let (asked, recovered) = (account.asked.encoded, account.recovered.encoded)
        #expect(throws: AccountStateError.highSignature) { try AccountState(decoding: respelled(asked)) }
        #expect(throws: AccountStateError.highSignature) { try AccountState(decoding: respelled(recovered)) }
        // The recovery key's is covered by the new identity key's, so that has to be made anew.
        let authority = respelled(Array(recovered.dropLast(64)))
        let signature = try P256.Signing.ECDSASignature(
            rawRepresentation: account.newIdentity.signature(for: authority).rawRepresentation)
        var whole = authority + Array(signature.rawRepresentation)
        if whole[whole.count - 32] > 0x7F { whole = respelled(whole) }
        #expect(throws: AccountStateError.highSignature) { try AccountState(decoding: whole) }
    }

    @Test func everySignatureIsMadeWithALowS() throws {
        for _ in 0..<32 { #expect(try state(.hashedKeys).signature[32] <= 0x7F) }
    }

    // MARK: The hash of the keys

    @Test func aStateHasTheHashOfEachDevicesKeys() throws {
        let (old, new) = (try state(.wholeKeys), try state(.hashedKeys))
        #expect(old.devices == new.devices && old.devices.map(\.keys.hash) == person.devices.map(\.keys.hash))
        #expect(old.encoded.count - new.encoded.count == 2 * (1281 - 97))
        #expect(old.hasAllKeys && !new.hasAllKeys)
        #expect(try AccountState(decoding: old.encoded) == old && AccountState(decoding: new.encoded) == new)
    }

    @Test func aStepFromTheFirstFormToTheSecondIsAnOrdinaryOne() throws {
        let old = try state(.wholeKeys)
        let next = try AccountState(signing: old.next(devices: old.devices)) {
            try Array(person.identity.signature(for: $0).rawRepresentation)
        }
        #expect(next.form == .hashedKeys && old.isFollowed(by: next) && next.devices == old.devices)
    }

    /// Real ones, of a server before the second form, with what its log has of them.
    @Test func statesOfTheFirstFormThatLogsHaveAreRead() throws {
        let file = LookupVectorTests.folder.deletingLastPathComponent().appending(path: "old/directory-states-1.txt")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        var last: [String: AccountState] = [:]
        for line in lines {
            let fields = line.split(separator: " ").map(String.init)
            let bytes = try fields.dropFirst(2).map { try Hex.decode(Array($0.utf8)) }
            let state = try AccountState(decodingWithKeys: bytes[0])
            #expect(state.handle.description == fields[0] && String(state.version) == fields[1])
            #expect(state.form == .wholeKeys && state.hasAllKeys && state.encodedWithKeys == bytes[0])
            let record = StateRecord(
                label: try #require(LabelIndex(bytes[2])), version: state.version, kind: .set,
                commitment: StateCommitment(to: state, opening: bytes[1]))
            #expect(TreeHash.leaf(record.entry).bytes == bytes[3])
            #expect(last.updateValue(state, forKey: fields[0])?.isFollowed(by: state) ?? (state.version == 1))
        }
        #expect(last.mapValues(\.version) == ["alice@example.org": 1, "bob@example.org": 2])
    }

    // MARK: Keys beside a state

    private func beside(_ keys: [[UInt8]], _ state: [UInt8]) -> [UInt8] {
        Array("signet-account-keys/v1\n".utf8) + [UInt8(keys.count)] + keys.flatMap(\.self) + state
    }

    private var keys: [[UInt8]] { get throws { try person.devices.map { try #require($0.keys.kem) } } }

    @Test func keysBesideAStateAreReadAndWrittenBack() throws {
        let state = try state(.hashedKeys)
        let bytes = beside(try keys, state.encoded)
        let complete = try AccountState(decodingWithKeys: bytes)
        #expect(complete == state && complete.hash == state.hash && complete.hasAllKeys)
        #expect(complete.encodedWithKeys == bytes && AccountState.withoutKeys(bytes) == state.encoded)
        #expect(try AccountState(decodingWithKeys: state.encoded).encodedWithKeys == state.encoded)
        #expect(throws: AccountStateError.unknownFormat) { try AccountState(decoding: bytes) }
    }

    @Test func anotherKeyThanTheOneListedIsRefused() throws {
        let (state, keys) = (try state(.hashedKeys).encoded, try keys)
        var other = keys[1]
        other[700] ^= 1
        #expect(throws: AccountStateError.anotherDeviceKey(2)) {
            try AccountState(decodingWithKeys: beside([keys[0], other], state))
        }
        #expect(throws: AccountStateError.anotherDeviceKey(1)) {
            try AccountState(decodingWithKeys: beside([keys[1], keys[0]], state))
        }
    }

    @Test func fewerOrMoreKeysThanDevicesAreRefused() throws {
        let (state, keys) = (try state(.hashedKeys).encoded, try keys)
        for wrong in [[], [keys[0]], keys + [keys[0]]] {
            #expect(throws: AccountStateError.deviceKeyCount(wrong.count)) {
                try AccountState(decodingWithKeys: beside(wrong, state))
            }
        }
        let old = try self.state(.wholeKeys).encoded
        #expect(throws: AccountStateError.deviceKeyCount(2)) { try AccountState(decodingWithKeys: beside(keys, old)) }
        #expect(throws: AccountStateError.self) { try AccountState(decodingWithKeys: beside(keys, state).dropLast()) }
    }

    @Test func keysAtHandAreTakenOnlyUnderTheirHash() throws {
        let (state, keys) = (try state(.hashedKeys), try keys)
        let known = Dictionary(uniqueKeysWithValues: zip(person.devices.map(\.keys.hash), keys))
        #expect(state.completed { known[$0] }.hasAllKeys)
        #expect(state.completed { known[$0] }.keysByHash == known)
        #expect(!state.completed { _ in keys[0] }.hasAllKeys)
        #expect(!state.completed { _ in nil }.hasAllKeys)
    }
}

@Suite struct LogEntryTests {
    let label: VRFHash
    let state: AccountState

    init() throws {
        label = try #require(VRFHash((0..<64).map { UInt8($0) }))
        state = try PaperPerson("alice@example.org", seed: 10).state()
    }

    @Test func deviceLeafIsTheECallLeafByteForByte() throws {
        let leaf = try #require(DeviceLeaf(label: label, publicKey: [UInt8](repeating: 1, count: 32)))
        // Expected text made with coreutils' base64.
        let expected =
            "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEyMzQ1Njc4OTo7PD0+Pw==\n"
            + "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=\n"
        #expect(leaf.entry == Array(expected.utf8))
        #expect(try DeviceLeaf(decoding: leaf.entry) == leaf)
        #expect(throws: LogEntryError.self) { try DeviceLeaf(decoding: leaf.entry + [10]) }
        #expect(throws: LogEntryError.self) { try DeviceLeaf(decoding: leaf.entry.dropLast()) }
    }

    @Test(arguments: StateKind.allCases) func stateRecordReadsBack(kind: StateKind) throws {
        let record = StateRecord(
            label: LabelIndex(label), version: 7, kind: kind,
            commitment: kind == .close
                ? .toNothing : StateCommitment(to: state, opening: [UInt8](repeating: 2, count: 32)))
        #expect(try StateRecord(decoding: record.entry) == record)
    }

    @Test func theRecordOfAnEndCommitsToNothing() {
        let record = StateRecord(
            label: LabelIndex(label), version: 7, kind: .close,
            commitment: StateCommitment(to: state, opening: [UInt8](repeating: 2, count: 32)))
        #expect(throws: LogEntryError.invalidField) { try StateRecord(decoding: record.entry) }
    }

    @Test(arguments: [
        "kt-state/v2\n", "kt-state/v1\r\n", "", "kt-state/v1\nAA==\n1\nset\nAA==\n",
    ]) func stateRecord_refusesMalformedBytes(text: String) {
        #expect(throws: LogEntryError.self) { try StateRecord(decoding: Array(text.utf8)) }
    }

    @Test(arguments: [("7", "07"), ("7", "+7"), ("7", "0"), ("set", "Set"), ("set", "unset")])
    func stateRecord_refusesOtherEncodings(honest: String, other: String) throws {
        let record = StateRecord(
            label: LabelIndex(label), version: 7, kind: .set,
            commitment: StateCommitment(to: state, opening: [UInt8](repeating: 2, count: 32)))
        let text = String(decoding: record.entry, as: UTF8.self)
        let edited = text.replacing("\n\(honest)\n", with: "\n\(other)\n")
        #expect(edited != text)
        #expect(throws: LogEntryError.self) { try StateRecord(decoding: Array(edited.utf8)) }
    }

    @Test func aStateRecordIsNeverADeviceLeafAndTheOtherWayRound() throws {
        let record = StateRecord(
            label: LabelIndex(label), version: 1, kind: .set,
            commitment: StateCommitment(to: state, opening: [UInt8](repeating: 2, count: 32)))
        #expect(throws: LogEntryError.self) { try DeviceLeaf(decoding: record.entry) }
        let leaf = try #require(DeviceLeaf(label: label, publicKey: [UInt8](repeating: 1, count: 32)))
        #expect(throws: LogEntryError.self) { try StateRecord(decoding: leaf.entry) }
    }

    @Test func commitmentIsHMACOfTheStateUnderTheOpening() {
        let opening = [UInt8](repeating: 2, count: 32)
        #expect(
            HMAC<SHA256>.isValidAuthenticationCode(
                StateCommitment(to: state, opening: opening).bytes, authenticating: state.encoded,
                using: SymmetricKey(data: opening)))
    }

    @Test func labelIndexIsTheHashOfTheLabelUnderItsPrefix() {
        #expect(
            LabelIndex(label).bytes
                == Array(SHA256.hash(data: Array("kt-index/v1".utf8) + label.bytes)))
    }
}
