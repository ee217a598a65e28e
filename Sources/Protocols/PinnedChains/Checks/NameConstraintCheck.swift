// SPDX-License-Identifier: Apache-2.0

import KeyPinning
import SwiftASN1
import X509

/// One authority's name constraints. Names and addresses are understood; a constraint of another kind refuses names of
/// that kind.
struct NameConstraintCheck {
    private let constraints: NameConstraints
    private let depth: Int

    init(_ constraints: NameConstraints, depth: Int) {
        self.constraints = constraints
        self.depth = depth
    }

    func check(_ names: [GeneralName]) throws(PathFault) {
        for name in names {
            let permitted = constraints.permittedSubtrees.filter { Self.areOfOneKind($0, name) }
            let excluded = constraints.excludedSubtrees.filter { Self.areOfOneKind($0, name) }
            guard !permitted.isEmpty || !excluded.isEmpty else { continue }
            let region = try region(of: name)
            var isPermitted = permitted.isEmpty
            for subtree in permitted { isPermitted = try tree(subtree).contains(region) || isPermitted }
            guard isPermitted else { throw .constrainedName(depth: depth) }
            for subtree in excluded where try tree(subtree).touches(region) { throw .constrainedName(depth: depth) }
        }
    }

    /// What a name stands for.
    private enum Region {
        case name([UInt8])
        /// Every name with one label before this one.
        case namesBelow([UInt8])
        case address([UInt8])
    }

    /// What a constraint covers.
    private enum Tree {
        /// A name and all below; without the name itself if the constraint begins with a dot. Empty for every name.
        case names([UInt8], withItself: Bool)
        case addresses([UInt8], mask: [UInt8])

        /// Whether all of a region is in the tree.
        func contains(_ region: Region) -> Bool {
            switch (self, region) {
            case (.names(let root, let withItself), .name(let name)): Self.isIn(name, root, withItself)
            case (.names(let root, _), .namesBelow(let parent)): Self.isIn(parent, root, true)
            case (.addresses(let base, let mask), .address(let address)):
                base.count == address.count
                    && base.indices.allSatisfy { base[$0] & mask[$0] == address[$0] & mask[$0] }
            default: false
            }
        }

        /// Whether any of a region is in the tree.
        func touches(_ region: Region) -> Bool {
            if contains(region) { return true }
            guard case (.names(let root, let withItself), .namesBelow(let parent)) = (self, region), withItself,
                let dot = root.firstIndex(of: UInt8(ascii: "."))
            else { return false }
            return root[(dot + 1)...] == parent[...]
        }

        private static func isIn(_ name: [UInt8], _ root: [UInt8], _ withItself: Bool) -> Bool {
            root.isEmpty || (withItself && name == root)
                || (try? HostPattern(Array("**.".utf8) + root))?.matches(.dns(name)) == true
        }
    }

    private func region(of name: GeneralName) throws(PathFault) -> Region {
        switch name {
        case .dnsName(let text):
            switch try? HostPattern(Array(text.utf8)) {
            case .exactly(.dns(let name)): return .name(name)
            case .oneLabelBelow(let parent): return .namesBelow(parent)
            default: throw .constrainedName(depth: depth)
            }
        case .ipAddress(let octets): return .address(Array(octets.bytes))
        default: throw .unknownConstraint(depth: depth)
        }
    }

    private func tree(_ subtree: GeneralName) throws(PathFault) -> Tree {
        switch subtree {
        case .dnsName(let text):
            let name = Array(text.utf8)
            if name.isEmpty { return .names([], withItself: true) }
            let hasDot = name.first == UInt8(ascii: ".")
            guard case .exactly(.dns(let root)) = try? HostPattern(hasDot ? Array(name.dropFirst()) : name) else {
                throw .unknownConstraint(depth: depth)
            }
            return .names(root, withItself: !hasDot)
        case .ipAddress(let octets):
            let bytes = Array(octets.bytes)
            guard bytes.count == 8 || bytes.count == 32 else { throw .unknownConstraint(depth: depth) }
            let half = bytes.count / 2
            return .addresses(Array(bytes[..<half]), mask: Array(bytes[half...]))
        default: throw .unknownConstraint(depth: depth)
        }
    }

    private static func areOfOneKind(_ first: GeneralName, _ second: GeneralName) -> Bool {
        switch (first, second) {
        case (.otherName, .otherName), (.rfc822Name, .rfc822Name), (.dnsName, .dnsName),
            (.x400Address, .x400Address), (.directoryName, .directoryName), (.ediPartyName, .ediPartyName),
            (.uniformResourceIdentifier, .uniformResourceIdentifier), (.ipAddress, .ipAddress),
            (.registeredID, .registeredID):
            true
        default: false
        }
    }
}
