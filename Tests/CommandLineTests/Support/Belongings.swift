// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Ming's accounts at two sites and a note that a friend reads, and the data that the sites hold.
///
/// The friend does the same at the sites, so that data common to all members can be told from data of one.
final class Belongings {
    private static let names = ["ming", "friend"]
    let circle: Circle
    let sites: [RunningSite]
    private var held: [String: [[Holdings]]] = [:]

    init(_ circle: Circle, _ sites: [RunningSite]) {
        self.circle = circle
        self.sites = sites
        for name in Self.names { held[name] = sites.map { _ in [] } }
    }

    /// Both register at one of the sites, and sign in.
    func register(at index: Int, heard: Transcript) async throws {
        for home in Self.names {
            for command in ["register", "signin", "signin"] {
                try await visit(index, as: home, from: home, command, heard)
            }
            held[home]?[index].append(try await sites[index].news())
        }
    }

    /// Gives each site new keys from the new device; the friend does so too.
    func giveNewKeys(from device: String, heard: Transcript) async throws {
        for index in sites.indices {
            expect(64, try await sites[index].signet(device, "signin"), "the site knows only the old keys")
            _ = try await sites[index].news()
            for home in Self.names {
                for command in ["re-register", "signin"] {
                    try await visit(index, as: home, from: home == "ming" ? device : home, command, heard)
                }
                held[home]?[index].append(try await sites[index].news())
            }
        }
    }

    private func visit(
        _ index: Int, as home: String, from device: String, _ command: String, _ heard: Transcript
    ) async throws {
        let exit = try await sites[index].signet(device, command)
        await heard.append(exit)
        expect(0, exit, "\(home): \(command)")
        #expect(exit.errors.isEmpty, "\(exit.errors)")
    }

    /// The sites combine all their data. Values that they also hold of the friend do not identify ming.
    func expectSitesFindNothingEqual(before old: String, after new: String) async throws {
        let (ming, friend) = (try #require(held["ming"]), try #require(held["friend"]))
        #expect(ming.allSatisfy { $0.count == 2 })
        let everyones = Holdings.linking(friend[0], friend[1])
        let linked = Holdings.linking(ming[0], ming[1]).subtracting(everyones)
        #expect(linked.isEmpty, "both have \(linked.map(Array.init).prefix(5))")
        // The method finds equal values: one site recognizes its own member after the recovery.
        let known = ming[0][0].runs.intersection(ming[0][1].runs).subtracting(everyones)
        #expect(known.count > 20)
        for home in [old, new] { try await circle.town.expectNoAccountKey(of: home, in: ming.flatMap { $0 }) }
    }

    /// Ming writes, and the friend reads.
    func write(heard: Transcript) async throws {
        try await circle.run("ming", "notes", "new", "Plan", "The key is under the mat.", heard: heard)
        try await circle.run("ming", "notes", "share", "Plan", Circle.handle("friend"), "--write", heard: heard)
        try await circle.run("friend", "notes", "sync", heard: heard)
        try await circle.run("friend", "notes", "comment", "Plan", "Seen.", heard: heard)
        try await circle.run("ming", "notes", "sync", heard: heard)
        try await circle.run("ming", "notes", "edit", "Plan", "The key is in the shed.", heard: heard)
    }

    /// The note opens on the new device, and both continue to edit it.
    func expectNotesGoOn(from device: String, heard: Transcript) async throws {
        let shown = try await circle.run(device, "notes", "show", "Plan", heard: heard).output
        #expect(shown.contains("The key is in the shed.") && shown.contains("Seen."))
        try await circle.run(device, "notes", "edit", "Plan", "The key is with Ana.", heard: heard)
        try await circle.run("friend", "notes", "sync", heard: heard)
        let friends = try await circle.run("friend", "notes", "show", "Plan", heard: heard).output
        #expect(friends.contains("The key is with Ana."))
        try await circle.run("friend", "notes", "edit", "Plan", "The key is with Ben.", heard: heard)
        try await circle.run(device, "notes", "sync", heard: heard)
        let back = try await circle.run(device, "notes", "show", "Plan", heard: heard).output
        #expect(back.contains("The key is with Ben."))
    }
}

extension Town {
    /// No site has any part of the account's own keys.
    func expectNoAccountKey(of home: String, in holdings: [Holdings]) async throws {
        let shown = try await signet(home, "account", "show", "--offline", "--json", "--advanced").object()
        for name in ["identityKey", "deviceKey"] {
            let key = try #require((shown[name] as? String).flatMap { Data(base64Encoded: $0) })
            for holding in holdings {
                #expect(Holdings(fields: [Array(key)]).runs.isDisjoint(with: holding.runs), "\(name)")
            }
        }
    }
}
