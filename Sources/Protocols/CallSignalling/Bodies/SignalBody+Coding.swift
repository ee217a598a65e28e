// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

extension SignalBody {
    func write(to writer: inout ByteWriter) {
        writer.write(kind)
        switch self {
        case .join(let nonce), .reunite(let nonce): writer.write(nonce.bytes)
        case .leave: break
        case .roster(let change): change.write(to: &writer)
        case .rotation(let rotation): rotation.write(to: &writer)
        case .ack(let epoch), .commit(let epoch): epoch.write(to: &writer)
        case .request(let request): request.write(to: &writer)
        case .reply(let reply): reply.write(to: &writer)
        case .heartbeat(let heartbeat): heartbeat.write(to: &writer)
        case .yield(let yielding): yielding.write(to: &writer)
        case .ring(let ring): ring.write(to: &writer)
        case .ringAnswer(let answer): answer.write(to: &writer)
        case .ringEnd(let end): end.write(to: &writer)
        case .digest(let digest): digest.write(to: &writer)
        }
    }

    init(from reader: inout ByteReader) throws(SignalDecodingError) {
        let kind: UInt8 = try reading(&reader) { reader throws(CanonicalCodingError) in try reader.uint8() }
        switch kind {
        case 1: self = .join(try Self.nonce(from: &reader))
        case 2: self = .leave
        case 3: self = .roster(try RosterChange(from: &reader))
        case 4: self = .rotation(try KeyRotation(from: &reader))
        case 5: self = .ack(try Epoch(from: &reader))
        case 6: self = .commit(try Epoch(from: &reader))
        case 7: self = .request(try KeyRequest(from: &reader))
        case 8: self = .reply(try KeyReply(from: &reader))
        case 9: self = .heartbeat(try Heartbeat(from: &reader))
        case 10: self = .yield(try Yielding(from: &reader))
        case 11: self = .reunite(try Self.nonce(from: &reader))
        case 12: self = .ring(try Ring(from: &reader))
        case 13: self = .ringAnswer(try RingAnswer(from: &reader))
        case 14: self = .ringEnd(try RingEnd(from: &reader))
        case 15: self = .digest(try FrameDigest(from: &reader))
        default: throw .unknownBody(kind)
        }
    }

    private var kind: UInt8 {
        switch self {
        case .join: 1
        case .leave: 2
        case .roster: 3
        case .rotation: 4
        case .ack: 5
        case .commit: 6
        case .request: 7
        case .reply: 8
        case .heartbeat: 9
        case .yield: 10
        case .reunite: 11
        case .ring: 12
        case .ringAnswer: 13
        case .ringEnd: 14
        case .digest: 15
        }
    }

    private static func nonce(from reader: inout ByteReader) throws(SignalDecodingError) -> SignalNonce {
        try reading(&reader) { reader throws(CanonicalCodingError) in try SignalNonce(from: &reader) }
    }
}

/// Reads something whose only fault is its form.
func reading<Value>(
    _ reader: inout ByteReader, _ read: (inout ByteReader) throws(CanonicalCodingError) -> Value
) throws(SignalDecodingError) -> Value {
    do throws(CanonicalCodingError) { return try read(&reader) } catch { throw .malformed(error) }
}

extension Yielding {
    func write(to writer: inout ByteWriter) {
        writer.write(host.signingKey)
        writer.write(term)
    }

    init(from reader: inout ByteReader) throws(SignalDecodingError) {
        (host, term) = try reading(&reader) { reader throws(CanonicalCodingError) in
            (try CallDevice(from: &reader), try reader.uint32())
        }
    }
}

extension RosterChange {
    func write(to writer: inout ByteWriter) {
        roster.write(to: &writer)
        writer.write(UInt8(truncatingIfNeeded: floors.count))
        for floor in floors { floor.write(to: &writer) }
    }

    init(from reader: inout ByteReader) throws(SignalDecodingError) {
        roster = try Roster(from: &reader)
        let count = try reading(&reader) { reader throws(CanonicalCodingError) in try reader.uint8() }
        var floors: [Epoch] = []
        for _ in 0..<count { floors.append(try Epoch(from: &reader)) }
        self.floors = floors
    }
}

extension KeyRotation {
    func write(to writer: inout ByteWriter) {
        epoch.write(to: &writer)
        writer.write(reason.rawValue)
        writer.write(commitment)
        writer.write(notBefore)
        roster.write(to: &writer)
        KeyWrap.write(wraps, to: &writer)
    }

    init(from reader: inout ByteReader) throws(SignalDecodingError) {
        epoch = try Epoch(from: &reader)
        let rawReason = try reading(&reader) { reader throws(CanonicalCodingError) in try reader.uint8() }
        guard let reason = RotationReason(rawValue: rawReason) else { throw .unknownReason(rawReason) }
        self.reason = reason
        (commitment, notBefore) = try reading(&reader) { reader throws(CanonicalCodingError) in
            (Array(try reader.bytes(32)), try reader.uint64())
        }
        roster = try Roster(from: &reader)
        wraps = try KeyWrap.readList(from: &reader)
    }
}

extension KeyRequest {
    func write(to writer: inout ByteWriter) {
        writer.write(id.bytes)
        writer.write(reason.rawValue)
        writer.write(newest)
    }

    init(from reader: inout ByteReader) throws(SignalDecodingError) {
        let rawReason: UInt8
        (id, rawReason, newest) = try reading(&reader) { reader throws(CanonicalCodingError) in
            (try SignalNonce(from: &reader), try reader.uint8(), try reader.uint32())
        }
        guard let reason = KeyRequestReason(rawValue: rawReason) else { throw .unknownReason(rawReason) }
        self.reason = reason
    }
}

extension KeyReply {
    func write(to writer: inout ByteWriter) {
        writer.write(id.bytes)
        current.write(to: &writer)
        roster.write(to: &writer)
        KeyWrap.write(wraps, to: &writer)
    }

    init(from reader: inout ByteReader) throws(SignalDecodingError) {
        id = try reading(&reader) { reader throws(CanonicalCodingError) in try SignalNonce(from: &reader) }
        current = try Epoch(from: &reader)
        roster = try Roster(from: &reader)
        wraps = try KeyWrap.readList(from: &reader)
    }
}

extension Heartbeat {
    func write(to writer: inout ByteWriter) {
        epoch.write(to: &writer)
        writer.write(rosterNumber)
        writer.write(rosterHash)
        writer.write(heard)
        writer.write(isHost ? 1 as UInt8 : 0)
    }

    init(from reader: inout ByteReader) throws(SignalDecodingError) {
        epoch = try Epoch(from: &reader)
        let mark: UInt8
        (rosterNumber, rosterHash, heard, mark) = try reading(&reader) { reader throws(CanonicalCodingError) in
            (try reader.uint32(), Array(try reader.bytes(32)), try reader.uint16(), try reader.uint8())
        }
        guard mark <= 1 else { throw .unknownMark(mark) }
        isHost = mark == 1
    }
}
