// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyTransparency
import NoteLog
import ProtocolTesting
import SealedNotes

/// A person with real keys on every device.
struct Person {
    struct Device {
        let number: UInt16
        let signing = Curve25519.Signing.PrivateKey()
        let agreement = P256.KeyAgreement.PrivateKey()
        let kem: XWingMLKEM768X25519.PrivateKey
        let keys: DeviceKeys

        init(number: UInt16) throws {
            self.number = number
            kem = try XWingMLKEM768X25519.PrivateKey.generate()
            keys = try DeviceKeys(
                signing: Array(signing.publicKey.rawRepresentation),
                agreement: Array(agreement.publicKey.compressedRepresentation),
                kem: Array(kem.publicKey.rawRepresentation))
        }
    }

    let handle: Handle
    let identity = P256.Signing.PrivateKey()
    var devices: [Device]

    init(_ name: String, deviceCount: UInt16 = 1) throws {
        handle = try Handle(typed: Array("\(name)@example.org".utf8))
        devices = try (1...deviceCount).map { try Device(number: $0) }
    }

    func author(_ device: Int = 0) -> Author { Author(handle: handle, device: devices[device].keys.signing) }

    func sign(_ device: Int = 0) -> ([UInt8]) throws -> [UInt8] {
        let key = devices[device].signing
        return { Array(try key.signature(for: $0)) }
    }

    func agreementKeys(_ device: Int = 0) throws -> DeviceAgreementKeys {
        let device = devices[device]
        return try DeviceAgreementKeys(
            handle: handle, keys: device.keys, agreement: device.agreement, kem: device.kem)
    }

    /// The same person with the last device replaced by a new one.
    func replacingDevice() throws -> Person {
        var person = self
        let number = devices[devices.count - 1].number
        person.devices = devices.dropLast() + [try Device(number: number + 1)]
        return person
    }

    /// What a client finds out that asks an honest directory for the person.
    func lookup() throws -> VerifiedLookup {
        var paper = try PaperPerson(String(decoding: handle.bytes, as: UTF8.self), seed: 1, deviceCount: 1)
        paper.identity = identity
        paper.devices = devices.map { DeviceRecord(number: $0.number, addedAt: 0, keys: $0.keys) }
        paper.encodedState = try paper.state().encoded
        paper.sendsKeys = true
        var directory = try PaperDirectory(filler: 1)
        try directory.publish(paper)
        let answer = try directory.verifier().verify(
            directory.answer(about: paper).response.encoded, for: handle, knowing: nil, at: PaperDirectory.now)
        guard case .registered(let lookup) = answer else { throw NotRegistered() }
        return lookup
    }

    func keys() throws -> AuthorKeys { AuthorKeys(try lookup()) }
}

struct NotRegistered: Error {}
