// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
public import MulticastDNS

/// How a device that waits for a guest is found in its network without an address: under a name that only those know who have seen the
/// invitation, and that names nobody.
///
/// The name of the instance is the first eight bytes of SHA-256 over `signet-meet-instance/v1` LF and the invitation's one-time key, in
/// hexadecimal digits. There is one for each meeting, so a device does not look whether the name is taken before it uses it (RFC 6762, section 8.1): with 64 random
/// bits it is not.
///
/// What is found is a hint where to try, as an address in the invitation is. Who is there, the exchange proves.
///
/// Spec: RFC 6762, sections 5 to 10; RFC 6763, sections 4 to 6 and 9.
public struct MeetingAdvert: Sendable {
    /// `_signet-meet._tcp.local`.
    public static let service = name(["_signet-meet", "_tcp", "local"])
    private static let catalogue = name(["_services", "_dns-sd", "_udp", "local"])
    /// For how long others may keep what they hear, in seconds: the code is good for not much longer.
    static let lifetime: UInt32 = 120

    /// The instance.
    public let instance: MulticastName
    private let host: MulticastName
    private let port: UInt16
    private let addresses: [MeetingAddress]

    /// An advert for the device that made an invitation.
    public init(_ invitation: MeetingInvitation, at addresses: [MeetingAddress]) {
        let label = Self.label(of: invitation)
        instance = Self.name([label, "_signet-meet", "_tcp", "local"])
        host = Self.name(["signet-" + label, "local"])
        port = invitation.port
        self.addresses = addresses
    }

    static func instance(of invitation: MeetingInvitation) -> MulticastName {
        name([label(of: invitation), "_signet-meet", "_tcp", "local"])
    }

    private static func label(of invitation: MeetingInvitation) -> String {
        let hash = SHA256.hash(data: Array("signet-meet-instance/v1\n".utf8) + invitation.key)
        return String(decoding: Hex.encode(Array(hash.prefix(8))), as: UTF8.self)
    }

    /// Names of a few short labels, which always are names.
    private static func name(_ labels: [String]) -> MulticastName {
        MulticastName(labels: labels.map { Array($0.utf8) }) ?? .root
    }

    // MARK: What is said

    /// What is said unasked when the code is shown.
    public var announcement: DNSMessage { message([pointer, service, text] + hosts, lifetime: Self.lifetime) }

    /// What is said when the code is taken away: nobody keeps the name.
    public var goodbye: DNSMessage { message([pointer, service, text] + hosts, lifetime: 0) }

    /// Answers a query.
    ///
    /// - Parameter isDirect: whether the asker listens at a port of its own: it gets its question and number back, and records that it does not keep.
    /// - Returns: nil if nothing is asked about this meeting, or all of it is known to the asker.
    public func answer(to query: DNSMessage, isDirect: Bool) -> DNSMessage? {
        guard !query.isAnswer else { return nil }
        let asked = query.questions.prefix(DNSMessage.maximumQuestionCount)
        let answers = ([pointer, service, text, entry] + hosts).filter { record in
            asked.contains { $0.name == record.name && ($0.type == record.type || $0.type == DNSType.any) }
        }
        // RFC 6762, section 7.1: what the asker has for at least half of its time is not said again.
        let news = answers.filter { record in
            isDirect
                || !query.answers.contains {
                    $0.name == record.name && $0.value == record.value && $0.lifetime >= Self.lifetime / 2
                }
        }
        guard !news.isEmpty else { return nil }
        var message = message(news, lifetime: isDirect ? 10 : Self.lifetime, isKept: !isDirect)
        if news.contains(where: { $0.value == pointer.value || $0.value == service.value }) {
            let more = ([service, text] + hosts).filter { record in !news.contains { $0.value == record.value } }
            message.additional = self.message(more, lifetime: isDirect ? 10 : Self.lifetime, isKept: !isDirect).answers
        }
        if isDirect {
            message.id = query.id
            message.questions = Array(asked)
        }
        return message
    }

    private func message(_ records: [DNSRecord], lifetime: UInt32, isKept: Bool = true) -> DNSMessage {
        var message = DNSMessage()
        message.isAnswer = true
        message.answers = records.map {
            DNSRecord($0.name, $0.value, lifetime: lifetime, isUnique: $0.isUnique && isKept)
        }
        return message
    }

    private var pointer: DNSRecord { DNSRecord(Self.service, .pointer(instance), lifetime: 0, isUnique: false) }
    private var entry: DNSRecord { DNSRecord(Self.catalogue, .pointer(Self.service), lifetime: 0, isUnique: false) }
    private var service: DNSRecord {
        DNSRecord(instance, .service(port: port, host: host), lifetime: 0, isUnique: true)
    }
    /// One empty string: RFC 6763, section 6.1.
    private var text: DNSRecord { DNSRecord(instance, .text([0]), lifetime: 0, isUnique: true) }

    private var hosts: [DNSRecord] {
        addresses.map { address in
            switch address {
            case .version4(let bytes): DNSRecord(host, .address4(bytes), lifetime: 0, isUnique: true)
            case .version6(let bytes): DNSRecord(host, .address6(bytes), lifetime: 0, isUnique: true)
            }
        }
    }
}
