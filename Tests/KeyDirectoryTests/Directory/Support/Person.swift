// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import KeyDirectory
import KeyTransparency
import SignetAPI
import Testing

/// A device with all its private keys.
struct Device: Sendable {
    let record: DeviceRecord
    let signing: Curve25519.Signing.PrivateKey
    let agreement: P256.KeyAgreement.PrivateKey
    let kem: XWingMLKEM768X25519.PrivateKey

    /// A new device; `signing` to take a key that exists already.
    init(_ number: UInt16, signing: Curve25519.Signing.PrivateKey = .init()) throws {
        self.signing = signing
        agreement = P256.KeyAgreement.PrivateKey()
        kem = try XWingMLKEM768X25519.PrivateKey.generate()
        let keys = try DeviceKeys(
            signing: Array(signing.publicKey.rawRepresentation),
            agreement: Array(agreement.publicKey.compressedRepresentation),
            kem: Array(kem.publicKey.rawRepresentation))
        record = DeviceRecord(number: number, addedAt: StandingClock.start, keys: keys)
    }

    private init(_ other: Device, _ record: DeviceRecord) {
        self.record = record
        signing = other.signing
        agreement = other.agreement
        kem = other.kem
    }

    /// The same keys under another number.
    func renumbered(_ number: UInt16) -> Device {
        Device(self, DeviceRecord(number: number, addedAt: record.addedAt, listed: record.keys))
    }

    /// Proves to the directory that this device holds its keys.
    func card(for handle: Handle, at directory: Directory) async throws -> DeviceCard {
        let request = PossessionRequest(handle: handle, keys: try #require(record.keys.complete))
        let challenge = try await directory.challenge(request)
        let proof = try challenge.answer(for: request, agreementKey: agreement, kemKey: kem)
        return try DeviceCard(request, proof: proof) { Array(try signing.signature(for: $0)) }
    }

    /// Signs a call of a route.
    func sign(
        _ route: Route, _ body: [UInt8], at directory: Directory, time: UInt64,
        nonce: [UInt8] = (0..<16).map { _ in .random(in: .min ... .max) }
    ) throws -> (RequestSignature, RequestSignature.Content) {
        let content = RequestSignature.Content(route, origin: directory.origin, body: body)
        let signature = try RequestSignature(
            content, deviceKey: record.keys.signing, time: time, nonce: nonce
        ) { Array(try signing.signature(for: $0)) }
        return (signature, content)
    }

    func caller(
        _ route: Route, _ body: [UInt8] = [], at directory: Directory, time: UInt64 = StandingClock.start
    ) async throws -> Caller {
        let (signature, content) = try sign(route, body, at: directory, time: time)
        return try await directory.authenticate(signature, content)
    }
}

/// A person with an identity key, devices and the states signed so far.
struct Person: Sendable {
    let handle: Handle
    var identity = P256.Signing.PrivateKey()
    /// Active, in rising order of number.
    var devices: [Device]
    var state: AccountState?
    var nextNumber: UInt16

    init(_ name: String, deviceCount: Int = 1) throws {
        handle = try Handle(typed: Array(name.utf8))
        devices = try (1...deviceCount).map { try Device(UInt16($0)) }
        nextNumber = UInt16(deviceCount) + 1
    }

    /// A device for this person with a number of its own.
    mutating func newDevice() throws -> Device {
        defer { nextNumber += 1 }
        return try Device(nextNumber)
    }

    /// Signs the next state with these devices; the first one if there is none yet.
    func nextState(devices: [Device], identity other: P256.Signing.PrivateKey? = nil) throws -> AccountState {
        let records = devices.map(\.record)
        let key = other ?? identity
        let body =
            try state?.next(devices: records)
            ?? AccountStateBody(
                first: handle, identityKey: Array(key.publicKey.compressedRepresentation), devices: records)
        return try AccountState(signing: body) { Array(try key.signature(for: $0).rawRepresentation) }
    }

    /// The next state, with a card for each device that is new in it.
    func submission(devices: [Device], at directory: Directory) async throws -> StateSubmission {
        let known = state?.devices ?? []
        var cards: [DeviceCard] = []
        for device in devices where !known.contains(device.record) {
            cards.append(try await device.card(for: handle, at: directory))
        }
        return try StateSubmission(
            state: nextState(devices: devices), opening: Self.opening(), cards: cards)
    }

    static func opening() -> [UInt8] { (0..<32).map { _ in .random(in: .min ... .max) } }

    /// Registers with all devices.
    @discardableResult
    mutating func register(at directory: Directory, time: UInt64 = StandingClock.start) async throws -> StateReceipt {
        let submission = try await submission(devices: devices, at: directory)
        let receipt = try await send(submission, to: directory, time: time)
        state = submission.state
        return receipt
    }

    /// Changes the devices; the change is signed by the first of the present ones.
    @discardableResult
    mutating func change(
        to devices: [Device], at directory: Directory, time: UInt64 = StandingClock.start
    ) async throws -> StateReceipt {
        let submission = try await submission(devices: devices, at: directory)
        let receipt = try await send(submission, to: directory, time: time)
        state = submission.state
        self.devices = devices
        return receipt
    }

    /// Registers or updates with a submission, in a request signed by `device`.
    func send(
        _ submission: StateSubmission, by device: Device? = nil, to directory: Directory,
        time: UInt64 = StandingClock.start
    ) async throws -> StateReceipt {
        let device = device ?? devices[0]
        guard state != nil else {
            let (signature, content) = try device.sign(.register, submission.encoded, at: directory, time: time)
            return try await directory.register(submission, signature, content)
        }
        let caller = try await device.caller(.updateState, submission.encoded, at: directory, time: time)
        return try await directory.update(submission, by: caller)
    }

    func caller(_ route: Route = .addFriend, at directory: Directory) async throws -> Caller {
        try await devices[0].caller(route, at: directory)
    }
}
