// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// What a device tells a relay about the life of a call: all that a relay knows of it besides signals.
///
/// Wire form: the body of a STOMP SEND to ``destination``.
public enum CallAct: Hashable, Sendable {
    /// Opens a call. Body: 16-byte call, then 32 bytes for each device that may join; if there are none, any device
    /// that knows the call's id may join.
    case start(CallID, inviting: [CallDevice])
    /// Lets further devices join. Body: 32 bytes for each.
    case invite(CallID, [CallDevice])
    /// Removes devices, which may come back only when readmitted. Body: 32 bytes for each.
    case remove(CallID, [CallDevice])
    /// Comes in: from now on the device may send to the call and listen to it. No body.
    case join(CallID)
    /// Goes. No body.
    case leave(CallID)
    /// Ends the call for all members. No body.
    case end(CallID)

    /// The most devices that one act names.
    public static let maximumDeviceCount = Roster.maximumMemberCount

    /// Which call.
    public var callID: CallID {
        switch self {
        case .start(let call, _), .invite(let call, _), .remove(let call, _), .join(let call), .leave(let call),
            .end(let call):
            call
        }
    }

    /// The STOMP destination: `/app/api/call/start`, or `/app/api/call/`, the call in hexadecimal, and `/join`, `/invite`,
    /// `/remove`, `/leave` or `/end`.
    public var destination: [UInt8] {
        guard let verb else { return Self.prefix + Self.startVerb }
        return Self.prefix + Hex.encode(callID.bytes) + [Self.slash] + verb
    }

    /// The body.
    public var body: [UInt8] {
        switch self {
        case .start(let call, let devices): call.bytes + devices.flatMap(\.signingKey)
        case .invite(_, let devices), .remove(_, let devices): devices.flatMap(\.signingKey)
        case .join, .leave, .end: []
        }
    }

    /// Reads an act; nil if it is none.
    public init?(destination: [UInt8], body: [UInt8]) {
        guard destination.starts(with: Self.prefix) else { return nil }
        let parts = destination.dropFirst(Self.prefix.count).split(
            separator: Self.slash, omittingEmptySubsequences: false)
        if parts.count == 1, parts[0].elementsEqual(Self.startVerb) {
            guard let call = CallID(Array(body.prefix(16))), let devices = Self.devices(body.dropFirst(16)) else {
                return nil
            }
            self = .start(call, inviting: devices)
            return
        }
        guard parts.count == 2, let bytes = try? Hex.decode(Array(parts[0])), let call = CallID(bytes),
            let devices = Self.devices(body[...]), let act = Self.act(Array(parts[1]), call, devices)
        else { return nil }
        self = act
    }

    private static let prefix = Array("/app/api/call/".utf8)
    private static let startVerb = Array("start".utf8)
    private static let slash = UInt8(ascii: "/")

    private var verb: [UInt8]? {
        switch self {
        case .start: nil
        case .invite: Array("invite".utf8)
        case .remove: Array("remove".utf8)
        case .join: Array("join".utf8)
        case .leave: Array("leave".utf8)
        case .end: Array("end".utf8)
        }
    }

    private static func act(_ verb: [UInt8], _ call: CallID, _ devices: [CallDevice]) -> CallAct? {
        let act =
            devices.isEmpty
            ? [.join(call), .leave(call), .end(call)] : [CallAct.invite(call, devices), .remove(call, devices)]
        return act.first { $0.verb == verb }
    }

    private static func devices(_ bytes: ArraySlice<UInt8>) -> [CallDevice]? {
        guard bytes.count.isMultiple(of: 32), bytes.count / 32 <= maximumDeviceCount else { return nil }
        let starts = stride(from: bytes.startIndex, to: bytes.endIndex, by: 32)
        return starts.compactMap { CallDevice(Array(bytes[$0..<$0 + 32])) }
    }
}
