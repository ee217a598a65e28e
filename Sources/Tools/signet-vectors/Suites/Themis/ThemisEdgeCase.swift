// SPDX-License-Identifier: Apache-2.0

import Crypto
import SecureCell

/// One operation on unusual input, with what Themis did: in the compatible reading we do the same, in the strict
/// one only if the input is of the form that Themis prints.
struct ThemisEdgeCase {
    let record: ThemisRecord

    init(_ record: ThemisRecord) { self.record = record }

    func check(_ report: inout VectorReport) {
        guard let accepted = record.accepted else {
            return report.add(name, failure: "the field \"accepted\" is missing")
        }
        for reading in ReadingMode.allCases {
            let outcome = Result { try output(reading) }
            if accepted, case .failure(let error) = outcome, let reason = choice(error) {
                report.add("\(name)/\(reading)", .refusedByChoice(reason))
                continue
            }
            let isExpected = accepted && (reading == .compatible || isCanonical)
            report.add("\(name)/\(reading)", failure: failure(outcome, isExpected: isExpected))
        }
    }

    private var name: String { record.id ?? record.op ?? "edge case" }

    private func failure(_ outcome: Result<[UInt8]?, any Error>, isExpected: Bool) -> String? {
        let about = record.desc.map { " (\($0))" } ?? ""
        switch outcome {
        case .failure(let error): return isExpected ? "refused, must be accepted: \(error)\(about)" : nil
        case .success(let output):
            guard isExpected else { return "accepted, must be refused\(about)" }
            guard let output, let expected = record.output_b64?.bytes else { return nil }
            return output == expected ? nil : "gives another output\(about)"
        }
    }

    /// Performs the operation; nil where no output can be compared.
    private func output(_ reading: ReadingMode) throws -> [UInt8]? {
        let (key, context) = (record.key, record.context)
        switch record.op {
        case "seal": _ = try Seal.seal(record.plaintext_b64?.bytes ?? [], key: key, context: context)
        case "unseal":
            return try Seal.open(record.sealed_b64?.bytes ?? [], key: key, context: context, reading: reading)
        case "unseal_passphrase":
            return try PassphraseSeal.open(
                record.sealed_b64?.bytes ?? [], passphrase: record.passphrase.span, context: context, reading: reading)
        case "untoken":
            let parts = TokenProtect.Parts(
                token: record.token_b64?.bytes ?? [], ciphertext: record.encrypted_b64?.bytes ?? [])
            return try TokenProtect.open(parts, key: key, context: context, reading: reading)
        case "imprint": _ = try ContextImprint.imprint(record.plaintext_b64?.bytes ?? [], key: key, context: context)
        case "unimprint":
            return try ContextImprint.restore(record.encrypted_b64?.bytes ?? [], key: key, context: context)
        case "valid_key": _ = try KeyContainer(decoding: record.container_b64?.bytes ?? [])
        case "verify": return try ThemisKey(record.public_b64).verify(record.signed_b64?.bytes ?? [], reading)
        default: return try messageOutput(reading)
        }
        return nil
    }

    private func messageOutput(_ reading: ReadingMode) throws -> [UInt8]? {
        switch record.op {
        case "decrypt":
            return try ThemisKey(record.private_b64)
                .decrypt(record.encrypted_b64?.bytes ?? [], from: ThemisKey(record.public_b64), reading)
        case "sign": try sign()
        case "encrypt": try encrypt()
        case "decrypt_own": try sendToSelf()
        default: throw UnknownOperation()
        }
        return nil
    }

    private func sign() throws {
        guard case .ecPrivate(let key) = try ThemisKey(record.private_b64) else { throw KeyError.wrongKind }
        let message = record.plaintext_b64?.bytes ?? []
        let signed = try SignedMessage.sign(message, by: key)
        for signed in [signed] + (record.output_b64.map { [$0.bytes] } ?? []) {
            guard try SignedMessage.verify(signed, by: key.publicKey) == message else { throw OtherOutput() }
        }
    }

    /// Encrypts and, as either party can, opens that and what Themis made of it.
    private func encrypt() throws {
        guard case .ecPrivate(let key) = try ThemisKey(record.private_b64),
            case .ecPublic(let peer) = try ThemisKey(record.public_b64)
        else { throw KeyError.wrongKind }
        let message = record.plaintext_b64?.bytes ?? []
        let encrypted = try EncryptedMessage.encrypt(message, from: key, to: peer)
        for encrypted in [encrypted] + (record.output_b64.map { [$0.bytes] } ?? []) {
            guard try EncryptedMessage.decrypt(encrypted, by: key, from: peer) == message else { throw OtherOutput() }
        }
    }

    private func sendToSelf() throws {
        guard case .ecPrivate(let key) = try ThemisKey(record.private_b64) else { throw KeyError.wrongKind }
        let message = record.output_b64?.bytes ?? [1]
        let encrypted = try EncryptedMessage.encrypt(message, from: key, to: key.publicKey)
        guard try EncryptedMessage.decrypt(encrypted, by: key, from: key.publicKey) == message else {
            throw OtherOutput()
        }
    }

    /// Why we refuse what Themis takes; nil when there is no such reason.
    private func choice(_ error: any Error) -> String? {
        switch error {
        case KeyError.modulusTooSmall: "RSA-1024"
        case KeyError.invalidPoint where isHybrid: "a hybrid point"
        case KeyError.invalidScalar: "a scalar out of range"
        case MessageError.wrongType(let type) where type >> 8 == 0x260426: "an unknown message type"
        case CellError.iterationsOutOfBounds(let count) where count > ReadingMode.compatible.iterationBounds.upperBound:
            "too many iterations"
        default: nil
        }
    }

    private var isHybrid: Bool { [6, 7].contains(record.public_b64?.bytes.dropFirst(12).first) }
}

/// The record names an operation that the schema does not have.
struct UnknownOperation: Error {}
/// What came out is not what went in.
struct OtherOutput: Error {}

// The one form of each record, told without the code under test.
extension ThemisEdgeCase {
    /// Whether the input is of the form that Themis prints.
    fileprivate var isCanonical: Bool {
        switch record.op {
        case "unseal": Self.isCanonicalCell(record.sealed_b64?.bytes ?? [])
        case "unseal_passphrase": Self.isCanonicalPassphraseCell(record.sealed_b64?.bytes ?? [])
        case "untoken": Self.isCanonicalCell((record.token_b64?.bytes ?? []) + (record.encrypted_b64?.bytes ?? []))
        case "verify": Self.isCanonicalSigned(record.signed_b64?.bytes ?? [])
        case "decrypt": Self.isCanonicalEncrypted(record.encrypted_b64?.bytes ?? [])
        default: true
        }
    }

    private static func word(_ bytes: [UInt8], _ offset: Int) -> Int {
        bytes.dropFirst(offset).prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    private static func isCanonicalCell(_ cell: [UInt8]) -> Bool {
        cell.starts(with: [0, 1, 1, 0x40, 12, 0, 0, 0, 16, 0, 0, 0]) && cell.count == 44 + word(cell, 12)
    }

    private static func isCanonicalPassphraseCell(_ cell: [UInt8]) -> Bool {
        cell.starts(with: [0, 1, 1, 0x41, 12, 0, 0, 0, 16, 0, 0, 0]) && cell.count == 70 + word(cell, 12)
            && word(cell, 16) == 22 && (100_000...5_000_000).contains(word(cell, 48))
            && cell.dropFirst(52).starts(with: [16, 0])
    }

    private static func isCanonicalSigned(_ signed: [UInt8]) -> Bool {
        signed.count == 12 + word(signed, 4) + word(signed, 8)
    }

    private static func isCanonicalEncrypted(_ encrypted: [UInt8]) -> Bool {
        let isRSA = encrypted.first == 0x10
        return isCanonicalCell(Array(encrypted.dropFirst(isRSA ? 12 + word(encrypted, 8) : 8)))
    }
}
