// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// An account state before it is signed. ``AccountState`` says what the fields mean.
public struct AccountStateBody: Hashable, Sendable {
    /// Whose state it is.
    public let handle: Handle
    /// 1 for the first, then one more each time.
    public let version: UInt64
    /// SHA-256 of the previous state's encoding; 32 zero bytes at version 1.
    public let previous: [UInt8]
    /// P-256, 33 bytes, compressed.
    public let identityKey: [UInt8]
    /// 32 bytes, or nil.
    public let recoveryCommitment: [UInt8]?
    /// 32 bytes, or nil: a commitment of the older form, under which nothing starts any more.
    public let olderCommitment: [UInt8]?
    /// What was in force before, or nil.
    public let formerRecovery: FormerRecovery?
    /// 32 bytes, or nil.
    public let pendingRecovery: [UInt8]?
    /// 32 bytes, or nil.
    public let accountHead: [UInt8]?
    /// In rising order of number; at least one.
    public let devices: [DeviceRecord]
    /// How it is written.
    package let form: AccountStateForm

    static let noPredecessor = [UInt8](repeating: 0, count: 32)

    /// The body of an account's first state.
    public init(first handle: Handle, identityKey: [UInt8], devices: [DeviceRecord]) {
        self.init(
            handle: handle, version: 1, previous: Self.noPredecessor, identityKey: identityKey,
            recoveryCommitment: nil, pendingRecovery: nil, accountHead: nil, devices: devices)
    }

    /// The body of the first state of another person who gets a handle that its holder lost: it follows their last state, and has
    /// nothing of it.
    ///
    /// Security: by the rules it follows nothing (``AccountStepVerifier``), so everyone who knew the former holder sees another
    /// identity that no recovery explains. It names the state before it, so that this is all they see.
    ///
    /// - Throws: ``AccountStateError/tooManyVersions``: the version counter is at its end.
    public init(
        takingOver former: AccountState, identityKey: [UInt8], devices: [DeviceRecord]
    ) throws(AccountStateError) {
        guard former.version < UInt64.max else { throw .tooManyVersions }
        self.init(
            handle: former.handle, version: former.version + 1, previous: former.hash, identityKey: identityKey,
            recoveryCommitment: nil, pendingRecovery: nil, accountHead: nil, devices: devices)
    }

    /// A body of any parts; ``AccountState/init(signing:with:)`` checks them.
    package init(
        handle: Handle, version: UInt64, previous: [UInt8], identityKey: [UInt8],
        recoveryCommitment: [UInt8]?, pendingRecovery: [UInt8]?, accountHead: [UInt8]?,
        devices: [DeviceRecord], formerRecovery: FormerRecovery? = nil, olderCommitment: [UInt8]? = nil,
        form: AccountStateForm = .hashedKeys
    ) {
        self.handle = handle
        self.version = version
        self.previous = previous
        self.identityKey = identityKey
        self.recoveryCommitment = recoveryCommitment
        self.olderCommitment = olderCommitment
        self.formerRecovery = formerRecovery
        self.pendingRecovery = pendingRecovery
        self.accountHead = accountHead
        self.devices = devices
        self.form = form
    }

    /// The wire form without the signature.
    var encoded: [UInt8] { form.ordinary + fields }

    /// The wire form without first line and signature.
    var fields: [UInt8] {
        var writer = ByteWriter()
        writer.write(UInt8(truncatingIfNeeded: handle.bytes.count))
        writer.write(handle.bytes)
        writer.write(version)
        writer.write(previous)
        writer.write(identityKey)
        writer.write(promiseKind)
        writer.write((olderCommitment ?? recoveryCommitment ?? []) + (formerRecovery?.encoded ?? []))
        for field in [pendingRecovery, accountHead] {
            writer.write(UInt8(field == nil ? 0 : 1))
            writer.write(field ?? [])
        }
        writer.write(UInt8(truncatingIfNeeded: devices.count))
        for device in devices {
            writer.write(device.number)
            writer.write(device.addedAt)
            writer.write(form == .hashedKeys ? device.keys.encoded : device.keys.allEncoded)
        }
        return writer.bytes
    }

    /// What of a recovery follows: 0 nothing, 1 a commitment of the older form, 2 a commitment, 3 a commitment and the former
    /// one, 4 the former one alone.
    private var promiseKind: UInt8 {
        if olderCommitment != nil { return 1 }
        return switch (recoveryCommitment != nil, formerRecovery != nil) {
        case (false, false): 0
        case (true, false): 2
        case (true, true): 3
        case (false, true): 4
        }
    }

    /// Reads what ``fields`` writes.
    init(fields reader: inout FormatReader<AccountStateError>, form: AccountStateForm) throws(AccountStateError) {
        let name = Array(try reader.bytes(Int(try reader.uint8())))
        let handle: Handle
        do throws(HandleError) { handle = try Handle(canonical: name) } catch { throw .invalidHandle(error) }
        let version = try reader.uint64()
        let previous = Array(try reader.bytes(32))
        let identityKey = Array(try reader.bytes(33))
        let kind = try reader.uint8()
        guard kind < 5 else { throw AccountStateError.invalidPresenceByte(kind) }
        let commitment = (1...3).contains(kind) ? Array(try reader.bytes(32)) : nil
        let former = kind >= 3 ? try FormerRecovery(from: &reader) : nil
        let pendingRecovery = try Self.optionalHash(from: &reader)
        let accountHead = try Self.optionalHash(from: &reader)
        var devices: [DeviceRecord] = []
        for _ in 0..<(try reader.uint8()) {
            let number = try reader.uint16()
            let addedAt = try reader.uint64()
            let keys =
                form == .hashedKeys ? try ListedKeys(from: &reader) : ListedKeys(try DeviceKeys(from: &reader.reader))
            devices.append(DeviceRecord(number: number, addedAt: addedAt, listed: keys))
        }
        self.init(
            handle: handle, version: version, previous: previous, identityKey: identityKey,
            recoveryCommitment: kind == 1 ? nil : commitment, pendingRecovery: pendingRecovery,
            accountHead: accountHead, devices: devices, formerRecovery: former,
            olderCommitment: kind == 1 ? commitment : nil, form: form)
    }

    /// The bounds and the order that the wire form alone does not force.
    func check() throws(AccountStateError) {
        guard previous.count == 32,
            [recoveryCommitment, olderCommitment, pendingRecovery, accountHead].allSatisfy({ $0?.count ?? 32 == 32 }),
            olderCommitment == nil || (recoveryCommitment == nil && formerRecovery == nil),
            formerRecovery?.commitment.askKey?.count ?? 32 == 32
        else { throw .invalidField }
        guard version > 0, (version == 1) == (previous == Self.noPredecessor) else {
            throw .invalidVersion(version)
        }
        guard AccountSignature.isKey(identityKey) else { throw .invalidIdentityKey }
        guard (1...AccountState.maximumDeviceCount).contains(devices.count) else {
            throw .invalidDeviceCount(devices.count)
        }
        guard let first = devices.first, first.number > 0,
            zip(devices, devices.dropFirst()).allSatisfy({ $0.number < $1.number })
        else { throw .devicesOutOfOrder }
        guard Set(devices.map { $0.keys.signing }).count == devices.count else { throw .repeatedDeviceKey }
        guard form == .hashedKeys || devices.allSatisfy({ $0.keys.kem != nil }) else { throw .invalidDeviceKey }
    }

    private static func optionalHash(
        from reader: inout FormatReader<AccountStateError>
    ) throws(AccountStateError) -> [UInt8]? {
        switch try reader.uint8() {
        case 0: return nil
        case 1: return Array(try reader.bytes(32))
        case let other: throw .invalidPresenceByte(other)
        }
    }
}
