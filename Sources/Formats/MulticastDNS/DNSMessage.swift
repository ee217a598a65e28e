// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// A message of multicast DNS: a query or an answer. It is written without compression, and read with it.
///
/// Spec: RFC 1035, section 4.1; RFC 6762, section 18.
public struct DNSMessage: Hashable, Sendable {
    /// The longest message that is read, in bytes (RFC 6762, section 17).
    public static let maximumByteCount = 9000
    /// The most questions that are read.
    public static let maximumQuestionCount = 64
    /// The most records that are read.
    public static let maximumRecordCount = 256

    /// 0, but for askers that listen at a port of their own: they get theirs back.
    public var id: UInt16 = 0
    /// Whether it answers.
    public var isAnswer = false
    /// What is asked.
    public var questions: [DNSQuestion] = []
    /// What is answered, or known already to the asker.
    public var answers: [DNSRecord] = []
    /// What goes along with the answers.
    public var additional: [DNSRecord] = []

    /// An empty message.
    public init() {}

    // MARK: Writing

    /// The message.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(id)
        writer.write(isAnswer ? Self.authoritativeAnswer : 0)
        for count in [questions.count, answers.count, 0, additional.count] {
            writer.write(UInt16(truncatingIfNeeded: count))
        }
        for question in questions {
            question.name.write(to: &writer)
            writer.write(question.type)
            writer.write(Self.internet | (question.wantsUnicast ? Self.topBit : 0))
        }
        for record in answers + additional { Self.write(record, to: &writer) }
        return writer.bytes
    }

    private static let authoritativeAnswer: UInt16 = 0x8400
    private static let internet: UInt16 = 1
    private static let topBit: UInt16 = 0x8000

    private static func write(_ record: DNSRecord, to writer: inout ByteWriter) {
        record.name.write(to: &writer)
        writer.write(record.type)
        writer.write(internet | (record.isUnique ? topBit : 0))
        writer.write(record.lifetime)
        var data = ByteWriter()
        switch record.value {
        case .address4(let bytes), .address6(let bytes), .text(let bytes): data.write(bytes)
        case .pointer(let name): name.write(to: &data)
        case .service(let port, let host):
            // Priority and weight.
            data.write(UInt32(0))
            data.write(port)
            host.write(to: &data)
        case .other: break
        }
        writer.write(UInt16(truncatingIfNeeded: data.bytes.count))
        writer.write(data.bytes)
    }

    // MARK: Reading

    /// Reads a message.
    ///
    /// - Throws: ``MulticastDNSFault``.
    public init(decoding message: [UInt8]) throws(MulticastDNSFault) {
        guard message.count <= Self.maximumByteCount else { throw .tooLong }
        guard message.count >= 12 else { throw .truncated }
        let numbers = (0..<6).map { UInt16(message[2 * $0]) << 8 | UInt16(message[2 * $0 + 1]) }
        id = numbers[0]
        isAnswer = numbers[1] & Self.topBit != 0
        // RFC 6762, sections 18.3 and 18.11: another kind of query, or an error, is ignored.
        guard numbers[1] & 0x780F == 0 else { throw .kind }
        let recordCount = numbers[3...].reduce(0) { $0 + Int($1) }
        guard Int(numbers[2]) <= Self.maximumQuestionCount, recordCount <= Self.maximumRecordCount else {
            throw .tooMany
        }
        var place = 12
        for _ in 0..<numbers[2] { questions.append(try Self.question(message, &place)) }
        for _ in 0..<numbers[3] { answers.append(try Self.record(message, &place)) }
        for _ in 0..<numbers[4] { _ = try Self.record(message, &place) }
        for _ in 0..<numbers[5] { additional.append(try Self.record(message, &place)) }
        guard place == message.count else { throw .trailing }
    }

    private static func question(_ message: [UInt8], _ place: inout Int) throws(MulticastDNSFault) -> DNSQuestion {
        let (name, next) = try MulticastName.read(message, at: place)
        place = next
        let (type, kind) = (try number(message, &place), try number(message, &place))
        return DNSQuestion(name, kind & ~topBit == internet ? type : 0, wantsUnicast: kind & topBit != 0)
    }

    private static func record(_ message: [UInt8], _ place: inout Int) throws(MulticastDNSFault) -> DNSRecord {
        let (name, next) = try MulticastName.read(message, at: place)
        place = next
        let (type, kind) = (try number(message, &place), try number(message, &place))
        let lifetime = UInt32(try number(message, &place)) << 16 | UInt32(try number(message, &place))
        let count = Int(try number(message, &place))
        let data = place..<place + count
        guard data.upperBound <= message.count else { throw .truncated }
        place = data.upperBound
        let isInternet = kind & ~topBit == internet
        let value = isInternet ? try value(of: type, message, data) : .other(type: type)
        return DNSRecord(name, value, lifetime: lifetime, isUnique: kind & topBit != 0)
    }

    private static func value(
        of type: UInt16, _ message: [UInt8], _ data: Range<Int>
    ) throws(MulticastDNSFault) -> DNSRecord.Value {
        switch type {
        case DNSType.address4:
            guard data.count == 4 else { throw .data }
            return .address4(Array(message[data]))
        case DNSType.address6:
            guard data.count == 16 else { throw .data }
            return .address6(Array(message[data]))
        case DNSType.text: return .text(Array(message[data]))
        case DNSType.pointer: return .pointer(try name(message, data.lowerBound, endingAt: data.upperBound))
        case DNSType.service:
            guard data.count >= 7 else { throw .data }
            var place = data.lowerBound + 4
            let port = try number(message, &place)
            return .service(port: port, host: try name(message, place, endingAt: data.upperBound))
        default: return .other(type: type)
        }
    }

    private static func name(
        _ message: [UInt8], _ place: Int, endingAt end: Int
    ) throws(MulticastDNSFault) -> MulticastName {
        let (name, next) = try MulticastName.read(message, at: place)
        guard next == end else { throw .data }
        return name
    }

    private static func number(_ message: [UInt8], _ place: inout Int) throws(MulticastDNSFault) -> UInt16 {
        guard place + 2 <= message.count else { throw .truncated }
        defer { place += 2 }
        return UInt16(message[place]) << 8 | UInt16(message[place + 1])
    }
}

/// Why bytes are not read as a message. They are ignored.
public enum MulticastDNSFault: Error, Hashable, Sendable {
    /// More than ``DNSMessage/maximumByteCount`` bytes.
    case tooLong
    /// More questions or records than are read.
    case tooMany
    /// The message ends inside of something.
    case truncated
    /// Bytes are left over.
    case trailing
    /// A name has a label of another kind, or more than 255 bytes.
    case name
    /// A pointer does not lead back, or into the header.
    case pointer
    /// The data of a record has another length or form.
    case data
    /// Another kind of query than a standard one, or an error.
    case kind
}
