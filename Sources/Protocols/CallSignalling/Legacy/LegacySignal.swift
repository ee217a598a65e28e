// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// The messages of the eCall guide, field for field: not signed, without an epoch. Only for calls that a person has
/// started in legacy mode.
///
/// Wire form: a JSON object with the members of the guide, in order of name, strings and one number; no other member, no
/// escape, no space.
///
/// Security: any client that can publish in the call can send one. Nothing here may ever be mixed into a call that has
/// epochs.
public enum LegacySignal: Hashable, Sendable {
    /// `key_rotation`
    case keyRotation(callID: LegacyText, encryptedAESKey: [UInt8], keyRotationTimestamp: UInt64)
    /// `request_aes_key`
    case requestAESKey(callID: LegacyText, host: LegacyParty, requester: LegacyParty)
    /// `send_aes_key`
    case sendAESKey(callID: LegacyText, requester: LegacyParty, encryptedAESKey: [UInt8])

    /// No message is longer, in bytes.
    public static let maximumByteCount = 4096

    /// The wire form.
    public var encoded: [UInt8] {
        var object = FlatObject()
        switch self {
        case .keyRotation(let callID, let key, let time):
            object.text["callId"] = callID
            object.text["encryptedAESKey"] = LegacyText(base64: key)
            object.number["keyRotationTimestamp"] = time
        case .requestAESKey(let callID, let host, let requester):
            object.text["callId"] = callID
            object.set(host, "participant")
            object.set(requester, "sender")
        case .sendAESKey(let callID, let requester, let key):
            object.text["callId"] = callID
            object.text["encryptedAESKey"] = LegacyText(base64: key)
            object.set(requester, "participant")
        }
        object.text["type"] = typeText
        return object.encoded
    }

    /// Reads the wire form.
    ///
    /// - Throws: ``LegacySignalError``: not exactly what ``encoded`` prints.
    public init(decoding bytes: [UInt8]) throws(LegacySignalError) {
        guard bytes.count <= Self.maximumByteCount else { throw .tooLong(bytes.count) }
        var object = try FlatObject(decoding: bytes)
        let type = try object.takeText("type")
        let callID = try object.takeText("callId")
        switch type {
        case Self.rotationType:
            self = .keyRotation(
                callID: callID, encryptedAESKey: try object.takeBytes("encryptedAESKey"),
                keyRotationTimestamp: try object.takeNumber("keyRotationTimestamp"))
        case Self.requestType:
            self = .requestAESKey(
                callID: callID, host: try object.takeParty("participant"), requester: try object.takeParty("sender"))
        case Self.sendType:
            self = .sendAESKey(
                callID: callID, requester: try object.takeParty("participant"),
                encryptedAESKey: try object.takeBytes("encryptedAESKey"))
        default: throw .unknownType
        }
        guard object.isEmpty else { throw .unknownMember }
    }

    private static let rotationType: LegacyText = "key_rotation"
    private static let requestType: LegacyText = "request_aes_key"
    private static let sendType: LegacyText = "send_aes_key"

    private var typeText: LegacyText {
        switch self {
        case .keyRotation: Self.rotationType
        case .requestAESKey: Self.requestType
        case .sendAESKey: Self.sendType
        }
    }
}

/// A participant and one of their devices, as the guide names them.
public struct LegacyParty: Hashable, Sendable {
    /// `participantId` or `senderId`.
    public let participant: LegacyText
    /// `participantDeviceId` or `senderDeviceId`.
    public let device: LegacyText

    /// A participant's device.
    public init(participant: LegacyText, device: LegacyText) {
        self.participant = participant
        self.device = device
    }
}

/// 1 to 2048 bytes of printable ASCII without quote and backslash, so that JSON has one spelling for it.
public struct LegacyText: Hashable, Sendable, ExpressibleByStringLiteral, Comparable {
    /// The characters.
    public let bytes: [UInt8]

    /// A text from its bytes; nil if it has another character or length.
    public init?(_ bytes: [UInt8]) {
        let isPlain = bytes.allSatisfy {
            (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
        }
        guard isPlain, (1...2048).contains(bytes.count) else { return nil }
        self.bytes = bytes
    }

    /// A text from a literal of such characters.
    public init(stringLiteral text: StaticString) { bytes = text.withUTF8Buffer { Array($0) } }

    init(base64 bytes: [UInt8]) { self.bytes = Base64.encode(bytes) }

    /// In order of the bytes.
    public static func < (left: LegacyText, right: LegacyText) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

/// Why bytes are not a message of the guide.
public enum LegacySignalError: Error, Hashable, Sendable {
    /// Longer than any, in bytes.
    case tooLong(Int)
    /// Not a JSON object in the one spelling.
    case malformed
    /// A member is missing or of another kind.
    case missingMember
    /// A member that the message does not have.
    case unknownMember
    /// `type` is none of the three.
    case unknownType
}
