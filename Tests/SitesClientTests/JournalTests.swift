// SPDX-License-Identifier: Apache-2.0

import Crypto
import DeviceIdentity
import DeviceKeystores
import Foundation
import KeyPinning
import KeyTransparency
import Logging
import PinScenarios
import PinnedChains
import PinnedHTTP
import RelyingParty
import SecretMemory
import SecretSharing
import SignetClient
import SiteServer
import SitesClient
import SocialRecovery
import Testing

/// A recovery restores the recovery keys from the journal on a device that has nothing else.
@Suite struct JournalTests {
    @Test func aNewDeviceGivesEverySiteNewKeysFromTheJournal() async throws {
        try await withSite(recoveryDelay: 0) { connect in
            let (old, new) = (try await Device(), try await Device())
            try await old.book.register(at: connect(), grant())
            let entries = try await old.book.recoveryEntries(grant())
            let opened = try throughAJournal(entries)
            try await new.book.adopt(opened, grant())
            #expect(try await new.book.sites(grant()).map(\.needsNewKeys) == [true])
            await #expect(throws: SitesError.needsNewKeys) { _ = try await new.book.signIn(at: connect(), grant()) }
            #expect(try await new.book.giveNewKeys(to: connect(), grant()) == nil)
            #expect(try await new.book.signIn(at: connect(), grant()) == nil)
            #expect(try await new.book.sites(grant()).map(\.needsNewKeys) == [false])
            await #expect(throws: SitesError.refused(.unknownKey)) {
                _ = try await old.book.signIn(at: connect(), grant())
            }
            // The journal now holds the new recovery key, and the old one no longer works.
            let third = try await Device()
            try await third.book.adopt(opened, grant())
            await #expect(throws: SitesError.refused(.unknownKey)) {
                _ = try await third.book.giveNewKeys(to: connect(), grant())
            }
            let fourth = try await Device()
            try await fourth.book.adopt(throughAJournal(new.book.recoveryEntries(grant())), grant())
            #expect(try await fourth.book.giveNewKeys(to: connect(), grant()) == nil)
        }
    }

    @Test func aSiteThatWaitsIsAskedAgainWithTheSameKeys() async throws {
        try await withSite(recoveryDelay: 3600) { connect in
            let (old, new) = (try await Device(), try await Device())
            try await old.book.register(at: connect(), grant())
            try await new.book.adopt(old.book.recoveryEntries(grant()), grant())
            let due = try #require(try await new.book.giveNewKeys(to: connect(), grant()))
            #expect(try await new.book.giveNewKeys(to: connect(), grant()) == due)
            #expect(try await old.book.signIn(at: connect(), grant()) == due)
            try await old.book.object(at: connect(), grant())
            #expect(try await old.book.signIn(at: connect(), grant()) == nil)
        }
    }

    /// When guardians are chosen again before the sites have new keys, the next recovery needs the same recovery keys.
    @Test func recoveryEntriesIncludeASiteThatStillAwaitsNewKeys() async throws {
        try await withSite(recoveryDelay: 0) { connect in
            let (old, new, third) = (try await Device(), try await Device(), try await Device())
            try await old.book.register(at: connect(), grant())
            try await new.book.adopt(throughAJournal(old.book.recoveryEntries(grant())), grant())
            try await third.book.adopt(throughAJournal(new.book.recoveryEntries(grant())), grant())
            #expect(try await third.book.giveNewKeys(to: connect(), grant()) == nil)
            #expect(try await third.book.signIn(at: connect(), grant()) == nil)
        }
    }

    @Test func adoptingTheSameJournalTwiceChangesNothing() async throws {
        try await withSite(recoveryDelay: 0) { connect in
            let (old, new) = (try await Device(), try await Device())
            try await old.book.register(at: connect(), grant())
            let entries = try await old.book.recoveryEntries(grant())
            for _ in 0..<2 { try await new.book.adopt(entries, grant()) }
            #expect(try await new.book.giveNewKeys(to: connect(), grant()) == nil)
            try await new.book.adopt(entries, grant())
            #expect(try await new.book.signIn(at: connect(), grant()) == nil)
        }
    }

    @Test func aListOfAnotherDeviceOrWithAChangedByteIsRefused() async throws {
        let (one, two) = (try await Device(), try await Device())
        try await one.book.adopt([], grant())
        try await two.book.adopt([], grant())
        let sealed = try Data(contentsOf: one.list)
        try sealed.write(to: two.list)
        await #expect(throws: SitesError.listDamaged) { _ = try await two.book.sites(grant()) }
        for index in stride(from: 0, to: sealed.count, by: 131) {
            var bad = sealed
            bad[index] ^= 1
            try bad.write(to: one.list)
            await #expect(throws: SitesError.listDamaged) { _ = try await one.book.sites(grant()) }
        }
    }

    /// No list names such keys, so they would never be erased. Keys of an earlier try stay: the site may have them.
    @Test func aRefusedRegistrationLeavesNoKeysButThoseOfAnEarlierTry() async throws {
        try await withSite(recoveryDelay: 0) { connect in
            let (first, second, third) = (try await Device(), try await Device(), try await Device())
            let site = try await connect()
            let names = [PrivateKeyName.site(site.host, generation: 0), .siteRecovery(site.host, generation: 0)]
            try await first.book.register(at: site, grant())
            #expect(try await first.keys.names().filter(names.contains).count == 2)
            await #expect(throws: SitesError.refused(.staleChallenge)) {
                try await second.book.register(at: site, grant())
            }
            #expect(try await second.keys.names().filter(names.contains).isEmpty)
            _ = try await third.keys.makeKey(.p256Signing, named: names[0])
            await #expect(throws: SitesError.refused(.staleChallenge)) {
                try await third.book.register(at: site, grant())
            }
            #expect(try await third.keys.names().filter(names.contains).count == 2)
            try await third.book.register(at: connect(), grant())
        }
    }

    /// Seals entries to a journal's key whose seed is then cut in parts and put together again, as a recovery does.
    private func throughAJournal(_ entries: [JournalEntry]) throws -> [JournalEntry] {
        var generator = SystemRandomNumberGenerator()
        let key = try SealingKey.generate()
        let seed = Array(key.seedRepresentation)
        let places = ByteShare.randomPlaces(5, using: &generator)
        let parts = try ByteShare.cut(
            SecretBytes(copying: seed.span), threshold: 3, at: places, using: &generator)
        let device = Curve25519.Signing.PrivateKey()
        let label = try #require(LabelIndex([UInt8](repeating: 3, count: 32)))
        let scope = try #require(RecoveryScope(label: label, epoch: 1))
        var journal = RecoveryJournal(scope: scope)
        try journal.append(entries, to: Array(key.publicKey.rawRepresentation), device: 1, at: 1) {
            Array(try device.signature(for: $0))
        }
        let read = try RecoveryJournal(decoding: journal.encoded)
        let again = try #require(SecretBytes.combined(from: Array(parts.suffix(3))))
        let opener = try again.withSpan { span in
            try span.withUnsafeBytes { try SealingKey(seedRepresentation: $0, publicKey: nil) }
        }
        return try read.open(with: opener, first: read.count).entries
    }
}

/// A new device.
struct Device {
    let book: SiteBook
    let keys: SealedFileKeystore
    let list: URL

    init() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(component: "device-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        keys = SealedFileKeystore(
            in: DurableFile(path: folder.appending(component: "keys").path()), cost: .minimum)
        try await keys.create(under: SecretBytes(copying: Array("passphrase".utf8)))
        list = folder.appending(component: "list")
        book = SiteBook(keys: keys, list: DurableFile(path: list.path()))
    }
}

struct AlwaysThere: Presence {
    func answer(_ prompt: PresencePrompt) async -> PresenceOutcome { .present }
}

func grant() async throws -> PresenceGrant {
    let desk = PresencePrompter(asking: AlwaysThere(), remembering: nil)
    return try await desk.grant(for: .showSites, unlocking: true)
}

/// Runs `body` beside a site with TLS; `connect` opens a new connection to it, with a new challenge.
func withSite(
    recoveryDelay: UInt64, _ body: (() async throws -> SiteConnection) async throws -> Void
) async throws {
    let genuine = try #require(try PinScenario.all(at: Date()).first { $0.mustPass })
    let port = UInt16.random(in: 15_000..<30_000)
    let path = FileManager.default.temporaryDirectory.appending(component: "\(UUID().uuidString).members").path()
    defer { try? FileManager.default.removeItem(atPath: path) }
    let site = try HTTPSSite(
        at: VerifiedHost(Array("localhost".utf8), port: port, evidence: .ownName), members: SiteDatabase(path: path),
        recoveryDelay: recoveryDelay, certificateChain: genuine.presented.flatMap { PEMBlock.text($0) },
        privateKey: Array(genuine.keyPEM.utf8))
    let listening = AsyncStream<Void>.makeStream()
    let server = Task {
        try await site.run(host: "127.0.0.1", port: Int(port), logger: Logger(label: "test")) { _ in
            listening.continuation.finish()
        }
    }
    for await _ in listening.stream {}
    let address = try ServerAddress("https://localhost:\(port)")
    let connector = try PinnedConnector.withoutPins(for: address, trusting: TrustAnchors(genuine.anchors))
    // No test here is about time, and a busy machine has other tests to run.
    let patient = ConnectionDeadlines(
        connect: .seconds(120), handshake: .seconds(120), idle: .seconds(120), response: .seconds(120))
    do { try await body { try await SiteConnection.open(address, through: connector, deadlines: patient) } } catch {
        server.cancel()
        throw error
    }
    server.cancel()
}
