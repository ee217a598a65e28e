// SPDX-License-Identifier: Apache-2.0

import Crypto
import DIDKey
import Foundation
import KeyPinning
import OPAQUE
import SFrame
import STOMP
import SecretSharing
import VerifiableMap

@testable import SecureCell

func formatSeeds() throws -> [[UInt8]] {
    let frame = SymmetricKey(data: bytes(0, 32))
    var sealer = FrameSealer(key: try FrameKey(baseKey: frame, keyID: 0, suite: .aes128GCM))
    return [
        try KeyDID(.p256, publicKey: Party(1).identityKey).keyID, try sealer.seal(bytes(9, 20)[...]),
        HeartBeat.none.encoded,
    ] + (try snapshotSeeds()) + (try shareSeeds()) + (try loginSeeds())
}

/// A snapshot, and what stands before its checksum.
private func snapshotSeeds() throws -> [[UInt8]] {
    var trie = MapTrie()
    let value = needed { MapValue(bytes(7, 32)) }
    try trie.update((1...3).map { number in MapEntry(key: needed { MapKey(bytes(number, 32)) }, value: value) })
    let snapshot = trie.current.snapshot(position: 9)
    return [snapshot, snapshot.dropLast(32)]
}

private func shareSeeds() throws -> [[UInt8]] {
    var generator = SystemRandomNumberGenerator()
    let places = ShareIndex.random(count: 3, in: PaperShare.places, using: &generator)
    let dealing = try Dealing(of: .random(), threshold: 2, at: places, using: &generator)
    return [dealing.commitments.encoded] + (try dealing.shares.map { try PaperShare.words(for: $0) })
}

/// A registration and a login.
private func loginSeeds() throws -> [[UInt8]] {
    let (password, account, keys) = (bytes("password"), bytes("account"), try LoginServerKeys.generate())
    let parameters = try LoginParameters(context: [1])
    let registration = try ClientRegistration(password: password.span)
    let answer = try keys.respond(to: registration.request, credential: account)
    let record = try registration.finish(
        answer, password: password.span, parameters: parameters, stretching: .identity
    ).record
    let login = try ClientLogin(password: password.span)
    let server = try ServerLogin(
        login.request, record: record, credential: account, keys: keys, parameters: parameters)
    let outcome = try login.finish(
        server.response, password: password.span, parameters: parameters, stretching: .identity)
    return [
        registration.request.encoded, answer.encoded, record.encoded, login.request.encoded, server.response.encoded,
        outcome.proof.encoded, keys.withEncoded { span in span.indices.map { span[$0] } },
    ]
}

/// The key that opens and signs the messages of the cells.
func cellKey() throws -> ECPrivateKey {
    try ECPrivateKey(KeyContainer(.ecPrivate(.p256), body: SymmetricKey(data: [0] + bytes(1, 32))))
}

func cellSeeds() throws -> [[UInt8]] {
    let (cell, own, text) = (SymmetricKey(data: bytes(1, 32)), try cellKey(), bytes(9, 20))
    let parts = try TokenProtect.protect(text, key: cell)
    return [
        try Seal.seal(text, key: cell), joined(parts), try SignedMessage.sign(text, by: own),
        try EncryptedMessage.encrypt(text, from: own, to: own.publicKey),
    ]
}

/// A token and what it is for, as one input: the length of the second stands before both, in one byte.
func joined(_ parts: TokenProtect.Parts) -> [UInt8] {
    [UInt8(truncatingIfNeeded: parts.ciphertext.count)] + parts.ciphertext + parts.token
}
