// SPDX-License-Identifier: Apache-2.0

import Crypto
public import Foundation
import KeyPinning

extension PinScenario {
    /// The whole matrix: 13 rows that must pass and 17 that must be refused.
    ///
    /// - Parameter now: the moment around which certificates are valid.
    /// - Throws: never, unless a key or certificate cannot be made.
    public static func all(at now: Date) throws -> [PinScenario] {
        let cast = try Cast(at: now)
        return try cast.honest() + cast.rotations() + cast.interceptions() + cast.faults() + cast.bridges()
    }
}

/// Who plays in the scenarios.
///
/// A is the genuine authority with its intermediate A1, C its reserve with C1, B an interceptor's authority that was
/// installed on the device. X1, X2, YR and YE play the part of a public authority that renews its roots.
private struct Cast {
    let lab: CertificateLab
    let (a, a1, b, c, c1): (LabIdentity, LabIdentity, LabIdentity, LabIdentity, LabIdentity)
    let (server, interceptor): (LabIdentity, LabIdentity)
    let (rootA, rootB, rootC, a1ByA, c1ByC): ([UInt8], [UInt8], [UInt8], [UInt8], [UInt8])
    let (genuine, intercepted): ([UInt8], [UInt8])
    let host = [PinScenario.host]

    init(at now: Date) throws {
        lab = CertificateLab(now: now)
        (a, a1) = (try LabIdentity("Root A"), try LabIdentity("Intermediate A1"))
        (b, c, c1) = (try LabIdentity("Root B"), try LabIdentity("Root C"), try LabIdentity("Intermediate C1"))
        (server, interceptor) = (try LabIdentity("server"), try LabIdentity("interceptor"))
        (rootA, rootB, rootC) = (try lab.root(a), try lab.root(b), try lab.root(c))
        a1ByA = try lab.certify(a1, as: .authority(pathLength: 0), by: a)
        c1ByC = try lab.certify(c1, as: .authority(pathLength: 0), by: c)
        genuine = try lab.certify(server, as: .server(host), by: a1)
        intercepted = try lab.certify(interceptor, as: .server(host), by: b)
    }

    private func pin(_ identity: LabIdentity, _ tier: PinTier, isBackup: Bool = false) -> Pin {
        Pin(SPKIPin(hashing: Array(identity.key.publicKey.derRepresentation)), tier: tier, isBackup: isBackup)
    }

    private func row(
        _ row: String, _ title: String, passes: Bool, _ presented: [[UInt8]], _ key: LabIdentity? = nil,
        trusting anchors: [[UInt8]]? = nil, pins: [Pin]? = nil
    ) -> PinScenario {
        PinScenario(
            row: row, title: title, mustPass: passes, presented: presented,
            keyPEM: (key ?? server).key.pemRepresentation, anchors: anchors ?? [rootA, rootB, rootC],
            pins: pins ?? [pin(a1, .intermediate), pin(c1, .intermediate, isBackup: true)])
    }

    /// 01–04, 09, 10, 34.
    func honest() throws -> [PinScenario] {
        let renewed = try LabIdentity("server")
        let junk = try LabIdentity("junk")
        let junkRoot = try lab.root(junk)
        let leafPins = [pin(server, .leaf), pin(renewed, .leaf, isBackup: true)]
        return try [
            row("01", "the genuine chain", passes: true, [genuine, a1ByA]),
            row("02", "the root sent along", passes: true, [genuine, a1ByA, rootA]),
            row(
                "03", "a renewed certificate with a new key", passes: true,
                [lab.certify(renewed, as: .server(host), by: a1), a1ByA], renewed),
            row(
                "04", "the reserve authority", passes: true,
                [lab.certify(server, as: .server(host), by: c1), c1ByC]),
            row("09", "out of order, with junk", passes: true, [genuine, junkRoot, rootA, intercepted, a1ByA]),
            row("10", "the server's own key pinned", passes: true, [genuine, a1ByA], pins: leafPins),
            row(
                "34", "the pinned key, certified by another authority", passes: true,
                [lab.certify(server, as: .server(host), by: b)], pins: leafPins),
        ]
    }

    /// 05–08d: intermediates and roots change under the server.
    func rotations() throws -> [PinScenario] {
        let (a2, x1, x2) = (try LabIdentity("Intermediate A2"), try LabIdentity("X1"), try LabIdentity("X2"))
        let (yr, yr1, ye, ye1) = (
            try LabIdentity("Root YR"), try LabIdentity("YR1"), try LabIdentity("Root YE"), try LabIdentity("YE1")
        )
        let any = CertificateLab.Purpose.authority(pathLength: nil)
        let rotated = try [
            lab.certify(server, as: .server(host), by: a2),
            lab.certify(a2, as: .authority(pathLength: 0), by: a),
        ]
        let (rootX1, rootX2, rootYR) = (try lab.root(x1), try lab.root(x2), try lab.root(yr))
        let x2ByX1 = try lab.certify(x2, as: any, by: x1)
        let e1 = try LabIdentity("E1")
        let old = try [lab.certify(server, as: .server(host), by: e1), lab.certify(e1, as: any, by: x2), x2ByX1]
        let four = try [
            lab.certify(server, as: .server(host), by: yr1), lab.certify(yr1, as: any, by: yr),
            lab.certify(yr, as: any, by: x1),
        ]
        let five = try [
            lab.certify(server, as: .server(host), by: ye1), lab.certify(ye1, as: any, by: ye),
            lab.certify(ye, as: any, by: x2), x2ByX1,
        ]
        let pinsX1 = [pin(x1, .root), pin(c, .root, isBackup: true)]
        return [
            row(
                "05", "another intermediate, the root pinned", passes: true, rotated,
                pins: [pin(a, .root), pin(c, .root, isBackup: true)]),
            row("06", "another intermediate, the old one pinned", passes: false, rotated),
            row("07", "the pinned root at depth 3", passes: true, old, trusting: [rootX1], pins: pinsX1),
            row("08", "a shorter path without a pin", passes: true, old, trusting: [rootX2, rootX1], pins: pinsX1),
            row(
                "08b", "a new root, cross-signed by the pinned one", passes: true, four, trusting: [rootX1],
                pins: pinsX1),
            row(
                "08c", "five deep, a shorter path without a pin", passes: true, five, trusting: [rootX2, rootX1],
                pins: pinsX1),
            row(
                "08d", "the new root is trusted itself", passes: true, four, trusting: [rootYR, rootX1],
                pins: pinsX1),
        ]
    }

    /// 20–26: another party's key.
    func interceptions() throws -> [PinScenario] {
        let stolen = LabIdentity(copying: a1, name: b)
        let own = try lab.certify(interceptor, as: .server(host), by: interceptor)
        let refused = { (number: String, title: String, presented: [[UInt8]]) in
            row(number, title, passes: false, presented, interceptor)
        }
        return try [
            refused("20", "an interceptor whose authority is trusted", [intercepted]),
            refused("21", "… with the genuine intermediate appended", [intercepted, a1ByA]),
            refused("22", "… with the genuine chain appended", [intercepted, genuine, a1ByA, rootA]),
            refused(
                "23", "… with the pinned key in a certificate of its own",
                [intercepted, lab.certify(stolen, as: .authority(pathLength: nil), by: b)]),
            refused("24", "self-signed", [own]),
            refused("25", "self-signed, with the genuine chain appended", [own, genuine, a1ByA, rootA]),
            row(
                "26", "self-signed, its own key pinned", passes: false, [own], interceptor,
                pins: [pin(interceptor, .leaf), pin(c1, .intermediate, isBackup: true)]),
        ]
    }

    /// 27–33: the right authority, the wrong certificate.
    func faults() throws -> [PinScenario] {
        let elsewhere = try LabIdentity("elsewhere")
        let byServer = try lab.certify(interceptor, as: .server(host), by: elsewhere)
        let junk = try (0..<40).map { try lab.root(LabIdentity("junk \($0)")) }
        return try [
            row(
                "27", "expired", passes: false,
                [lab.certify(server, as: .server(host), by: a1, days: -90 ... -1), a1ByA]),
            row(
                "28", "not valid yet", passes: false,
                [lab.certify(server, as: .server(host), by: a1, days: 1...90), a1ByA]),
            row(
                "29", "for another host", passes: false,
                [lab.certify(server, as: .server(["elsewhere.test"]), by: a1), a1ByA]),
            row("30", "for clients only", passes: false, [lab.certify(server, as: .client(host), by: a1), a1ByA]),
            row(
                "31", "certified by another server of the authority", passes: false,
                [byServer, lab.certify(elsewhere, as: .server(["elsewhere.test"]), by: a1), a1ByA], interceptor),
            row("32", "the intermediate is missing", passes: false, [genuine]),
            row("33", "forty certificates too many", passes: false, [genuine, a1ByA] + junk),
        ]
    }

    /// 35, 36: a key with two certificates, one below the pinned authority and one below the interceptor's.
    func bridges() throws -> [PinScenario] {
        let bridge = try LabIdentity("bridge")
        let any = CertificateLab.Purpose.authority(pathLength: nil)
        let leaf = try lab.certify(interceptor, as: .server(host), by: bridge)
        let byB = try lab.certify(bridge, as: any, by: b)
        return try [
            row(
                "35", "a bridge that is not an authority below the pinned one", passes: false,
                [leaf, lab.certify(bridge, as: .server(["bridge.test"]), by: a1), a1ByA, byB], interceptor),
            row(
                "36", "a bridge one level too deep below the pinned root", passes: false,
                [leaf, lab.certify(bridge, as: any, by: a1), a1ByA, byB], interceptor,
                pins: [pin(a, .root), pin(c, .root, isBackup: true)]),
        ]
    }
}

extension LabIdentity {
    /// A certificate needs the public key alone: a party that appends one need not hold the private key.
    fileprivate init(copying identity: LabIdentity, name: LabIdentity) {
        self.name = name.name
        key = identity.key
    }
}
