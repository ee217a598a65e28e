// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// A domain name as its labels. Letters A to Z count as a to z.
///
/// Spec: RFC 1035, section 3.1; RFC 6762, section 16.
public struct MulticastName: Hashable, Sendable {
    /// 1 to 63 bytes each; the root is left out.
    public let labels: [[UInt8]]

    /// The name without labels.
    public static let root = MulticastName(unchecked: [])

    private init(unchecked labels: [[UInt8]]) { self.labels = labels }

    /// A name; nil if a label has another length, or the whole has more than 255 bytes.
    public init?(labels: [[UInt8]]) {
        guard labels.allSatisfy({ (1...63).contains($0.count) }), labels.reduce(1, { $0 + 1 + $1.count }) <= 255 else {
            return nil
        }
        self.labels = labels
    }

    /// A name in which dots separate labels, such as `_signet-meet._tcp.local`; nil for anything else.
    public init?(_ text: String) {
        self.init(
            labels: text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map { Array($0) })
    }

    /// The name with one more label before it; nil if it gets too long.
    public func below(_ label: [UInt8]) -> MulticastName? { MulticastName(labels: [label] + labels) }

    private var folded: [[UInt8]] {
        labels.map { label in
            label.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 + 32 : $0 }
        }
    }

    /// Whether two names are the same, without regard to case.
    public static func == (first: MulticastName, second: MulticastName) -> Bool { first.folded == second.folded }

    /// By the labels, without regard to case.
    public func hash(into hasher: inout Hasher) { hasher.combine(folded) }

    func write(to writer: inout ByteWriter) {
        for label in labels {
            writer.write(UInt8(truncatingIfNeeded: label.count))
            writer.write(label)
        }
        writer.write(UInt8(0))
    }

    /// Reads a name at a place of a message. A pointer leads to a place before the part that has it, so that following pointers ends.
    ///
    /// - Returns: the name, and the place after it.
    static func read(_ message: [UInt8], at place: Int) throws(MulticastDNSFault) -> (name: MulticastName, next: Int) {
        var labels: [[UInt8]] = []
        var (here, part, next, count) = (place, place, Int?.none, 1)
        while true {
            guard here < message.count else { throw .truncated }
            let length = Int(message[here])
            switch length {
            case 0:
                guard let name = MulticastName(labels: labels) else { throw .name }
                return (name, next ?? here + 1)
            case 1...63:
                count += 1 + length
                guard here + 1 + length <= message.count else { throw .truncated }
                guard count <= 255 else { throw .name }
                labels.append(Array(message[here + 1..<here + 1 + length]))
                here += 1 + length
            case 0xC0...:
                guard here + 1 < message.count else { throw .truncated }
                let target = (length & 0x3F) << 8 | Int(message[here + 1])
                guard target < part, target >= 12 else { throw .pointer }
                next = next ?? here + 2
                (here, part) = (target, target)
            default: throw .name
            }
        }
    }
}
