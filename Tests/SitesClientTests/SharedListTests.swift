// SPDX-License-Identifier: Apache-2.0

import Crypto
import DeviceIdentity
import DeviceKeystores
import Foundation
import SignetClient
import Testing

@testable import SitesClient

/// Two programs of one person and one list: each has a book of its own over the same files.
@Suite struct SharedListTests {
    /// The second registers at another site between the first one's reading of the list and its writing.
    @Test func anEntryThatAnotherProgramWroteMeanwhileIsKept() async throws {
        try await withSite(recoveryDelay: 0) { connect in
            try await withSite(recoveryDelay: 0) { connectToOther in
                let device = try await Device()
                let site = try await connect(), other = try await connectToOther()
                let keys = MeddlingKeystore(device.keys) {
                    try await device.book.register(at: other, grant())
                }
                let first = SiteBook(keys: keys, list: DurableFile(path: device.list.path()))
                try await first.register(at: site, grant())
                let hosts = try await device.book.sites(grant()).map(\.host)
                #expect(Set(hosts) == [site.host, other.host])
                #expect(try await device.book.recoveryEntries(grant()).count == 2, "a recovery brings both back")
            }
        }
    }

    @Test func aRegistrationIsRefusedWhileTheListIsLocked_andSucceedsLater() async throws {
        try await withSite(recoveryDelay: 0) { connect in
            let device = try await Device()
            do {
                let lock = try FileLock(device.list.path() + ".lock")
                try #require(lock != nil)
                await #expect(throws: SitesError.keystore(.busy)) {
                    try await device.book.register(at: connect(), grant())
                }
                withExtendedLifetime(lock) {}
            }
            #expect(try await device.book.sites(grant()).isEmpty)
            try await device.book.register(at: connect(), grant())
            #expect(try await device.book.signIn(at: connect(), grant()) == nil)
        }
    }
}

/// A keystore that runs a closure before it signs.
private struct MeddlingKeystore: PrivateKeyStore {
    private let keys: SealedFileKeystore
    private let meddle: @Sendable () async throws -> Void

    init(_ keys: SealedFileKeystore, _ meddle: @escaping @Sendable () async throws -> Void) {
        self.keys = keys
        self.meddle = meddle
    }

    var capabilities: PrivateKeyStoreCapabilities { keys.capabilities }

    func makeKey(_ kind: PrivateKeyKind, named name: PrivateKeyName) async throws(PrivateKeyStoreError) -> [UInt8] {
        try await keys.makeKey(kind, named: name)
    }

    func key(named name: PrivateKeyName) async throws(PrivateKeyStoreError) -> StoredKey? {
        try await keys.key(named: name)
    }

    func names() async throws(PrivateKeyStoreError) -> [PrivateKeyName] { try await keys.names() }

    func sign(
        _ message: [UInt8], with name: PrivateKeyName, _ grant: consuming PresenceGrant
    ) async throws(PrivateKeyStoreError) -> [UInt8] {
        do { try await meddle() } catch { Issue.record(error) }
        return try await keys.sign(message, with: name, grant)
    }

    func agree(
        with publicKey: [UInt8], context: [UInt8], using name: PrivateKeyName, _ grant: consuming PresenceGrant
    ) async throws(PrivateKeyStoreError) -> SymmetricKey {
        try await keys.agree(with: publicKey, context: context, using: name, grant)
    }

    func keep(_ secret: SymmetricKey, named name: PrivateKeyName) async throws(PrivateKeyStoreError) {
        try await keys.keep(secret, named: name)
    }

    func secret(
        named name: PrivateKeyName, _ grant: consuming PresenceGrant
    ) async throws(PrivateKeyStoreError) -> SymmetricKey { try await keys.secret(named: name, grant) }

    func erase(_ name: PrivateKeyName) async throws(PrivateKeyStoreError) { try await keys.erase(name) }
}
