// SPDX-License-Identifier: Apache-2.0

public import MulticastDNS

/// Looks for the device that made an invitation.
///
/// Anyone in the network may answer, also with the addresses of other devices: each is a hint, and at most ``maximumCount`` of them are
/// tried.
public struct MeetingSearch: Sendable {
    /// A place where the device may be.
    public struct Place: Hashable, Sendable {
        /// The address.
        public let address: MeetingAddress
        /// The port.
        public let port: UInt16
    }

    /// The most places that are tried.
    public static let maximumCount = 8
    private let instance: MulticastName
    private var services: [MulticastName: Set<UInt16>] = [:]
    private var hosts: [MulticastName: [MeetingAddress]] = [:]
    private var told: Set<Place> = []

    /// A search.
    public init(for invitation: MeetingInvitation) { instance = MeetingAdvert.instance(of: invitation) }

    /// What is asked.
    ///
    /// - Parameter id: a random number, which the answer repeats.
    public func query(id: UInt16) -> DNSMessage {
        var message = DNSMessage()
        message.id = id
        message.questions = [DNSQuestion(instance, DNSType.any)]
        return message
    }

    /// Takes an answer.
    ///
    /// - Returns: the places that it adds.
    public mutating func take(_ answer: DNSMessage) -> [Place] {
        guard answer.isAnswer else { return [] }
        for record in answer.answers + answer.additional where record.lifetime > 0 {
            switch record.value {
            case .service(let port, let host)
            where record.name == instance && port > 0 && services.count < Self.maximumCount:
                services[host, default: []].insert(port)
            case .address4(let bytes), .address6(let bytes):
                guard let address = MeetingAddress(bytes), hosts.count < Self.maximumCount,
                    hosts[record.name, default: []].count < Self.maximumCount
                else { continue }
                hosts[record.name, default: []].append(address)
            default: continue
            }
        }
        var found: [Place] = []
        for (host, ports) in services {
            for port in ports.sorted() {
                for address in hosts[host] ?? [] {
                    let place = Place(address: address, port: port)
                    guard told.count < Self.maximumCount, told.insert(place).inserted else { continue }
                    found.append(place)
                }
            }
        }
        return found
    }
}
