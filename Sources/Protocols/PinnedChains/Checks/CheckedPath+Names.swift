// SPDX-License-Identifier: Apache-2.0

import KeyPinning
import SwiftASN1
import X509

extension CheckedPath {
    /// The server's certificate must name the host in its subjectAltName: the same address, the same name, or a
    /// wildcard for its first label over a name that no registry gives names below.
    func checkName(_ host: ServerName, _ budget: inout NameBudget) throws(PathFault) {
        guard let names = try extensions(0, { try $0.subjectAlternativeNames }), !names.isEmpty else {
            throw .noNames
        }
        try budget.spend(names.count)
        guard names.contains(where: { Self.matches($0, host) }) else { throw .otherName }
    }

    private static func matches(_ name: GeneralName, _ host: ServerName) -> Bool {
        switch (name, host) {
        case (.dnsName(let text), .dns(let host)): matches(Array(text.utf8), host)
        case (.ipAddress(let octets), .address(let address)): Array(octets.bytes) == address
        default: false
        }
    }

    private static func matches(_ text: [UInt8], _ host: [UInt8]) -> Bool {
        guard let pattern = try? HostPattern(text) else { return false }
        return switch pattern {
        case .exactly(.dns(let name)): name == host
        case .oneLabelBelow(let parent): !PublicSuffix.isRegistry(parent) && pattern.matches(.dns(host))
        default: false
        }
    }

    /// Every authority's constraints hold for every certificate below it, except for an authority's that is issued by
    /// itself. A server's certificate has none to impose.
    func checkNameConstraints(_ budget: inout NameBudget) throws(PathFault) {
        guard try extensions(0, { try $0.nameConstraints }) == nil else { throw .unknownConstraint(depth: 0) }
        for depth in chain.indices.dropFirst().reversed() {
            guard let constraints = try extensions(depth, { try $0.nameConstraints }) else { continue }
            let subtreeCount = constraints.permittedSubtrees.count + constraints.excludedSubtrees.count
            guard subtreeCount > 0 else { throw .malformedExtension(depth: depth) }
            for below in 0..<depth where below == 0 || chain[below].issuer != chain[below].subject {
                let names = try names(below)
                try budget.spend(names.count * subtreeCount)
                try NameConstraintCheck(constraints, depth: depth).check(names)
            }
        }
    }

    /// All names of a certificate; the subject counts as one.
    private func names(_ depth: Int) throws(PathFault) -> [GeneralName] {
        let subject = chain[depth].subject
        let others = try extensions(depth) { try $0.subjectAlternativeNames.map { Array($0) } ?? [] }
        return (subject.isEmpty ? [] : [.directoryName(subject)]) + others
    }
}

/// How many names a search may still compare, on all its paths together: names and constraints multiply.
struct NameBudget {
    private var left = 65_536

    mutating func spend(_ count: Int) throws(PathFault) {
        guard count <= left else { throw .tooManyNames }
        left -= count
    }
}
