// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyTransparency
import NoteLog
import SealedNotes

@testable import SealedMessages

/// What an app's users send to each other: the message as it travels, and what is inside, behind the seal.
@Sendable func messageParsers() -> [Parser] {
    [
        .canonical("message", SealedMessage.init(decoding:), \.encoded),
        .canonical(
            "content of a message", { try MessageContent.decode($0[...]) }, { $0.content.encoded + $0.signature }),
    ]
}

func messageSeeds() throws -> [[UInt8]] {
    let (party, handle) = (try Party(1), try fuzzedHandle("a"))
    let keys = try DeviceKeys(
        signing: party.deviceKey, agreement: Array(party.agreement.publicKey.compressedRepresentation),
        kem: party.sealingKey)
    let device = try DeviceAgreementKeys(
        handle: handle, keys: keys, agreement: party.agreement, kem: party.sealing)
    let content = try MessageContent(
        context: bytes("chat"), sender: device.author, time: 1_800_000_000, recipients: [.init(device)],
        body: bytes("hello"))
    let wrap = SealedMessage.Wrap(
        hint: bytes(1, 4), encapsulation: bytes(2, 1120), ciphertext: bytes(3, 48))
    let message = SealedMessage(
        id: MessageID(bytes(4, 16)), commitment: bytes(5, 32), wraps: [wrap, wrap], sealed: bytes(6, 272))
    return [message.encoded, content.encoded + bytes(10, 64)]
}
