// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import SignetAPI
import SignetClient
import SignetTesting
import Testing
import TransparencyLog

/// The rules that separate keys and stores of one directory from those of another.
@Suite struct HomeFolderTests {
    private static func home(in folder: String) throws -> HomeFolder {
        let home = HomeFolder(path: folder + "/home")
        try home.prepare()
        return home
    }

    @Test func keysOfARefusedRegistrationAreKept() async throws {
        try await withTemporaryFolder { folder in
            let home = try Self.home(in: folder)
            for (number, name) in ["keystore.refused", "keystore.refused.2", "keystore.refused.3"].enumerated() {
                try home.directory.replace(with: [9])
                try home.keystore.create([UInt8(number)])
                let aside = try home.setAsideRefused()
                #expect(aside.keystore == home.path + "/" + name)
                #expect(!home.keystore.exists && !home.directory.exists)
                #expect(try DurableFile(path: aside.keystore).read(maximumByteCount: 9) == [UInt8(number)])
                #expect(try DurableFile(path: aside.directory).read(maximumByteCount: 9) == [9])
            }
            #expect(
                try DurableFile(path: home.path + "/keystore.refused").read(maximumByteCount: 9) == [0])
            #expect(throws: FileFault.notFound) { try home.setAsideRefused() }
        }
    }

    @Test func aReinstalledDirectoryOfTheSameOriginHasItsOwnStore() async throws {
        try await withTemporaryFolder { folder in
            let home = try Self.home(in: folder)
            let first = try await TestAuthority(in: folder).profile
            let second = try await TestAuthority(in: folder).profile
            #expect(first.trust.policy.logs.map(\.name) == second.trust.policy.logs.map(\.name))
            #expect(home.storePath(of: first.trust) != home.storePath, "a home without an account")

            try home.directory.replace(with: first.encoded)
            #expect(home.storePath(of: first.trust) == home.storePath)
            let moved = DirectoryProfile(
                url: "https://elsewhere", tlsRoot: second.tlsRoot, pins: second.pins, trust: first.trust)
            #expect(home.storePath(of: moved.trust) == home.storePath, "the same log at another address")
            let guest = home.storePath(of: second.trust)
            #expect(guest == home.path + "/store-\(HomeFolder.name(of: second.trust)).sqlite")
            #expect(HomeFolder.name(of: second.trust).utf8.count == 16)
        }
    }

    @Test func aNewAccountKeepsAStoreOfTheSameDirectoryOnly() async throws {
        try await withTemporaryFolder { folder in
            let home = try Self.home(in: folder)
            let first = try await TestAuthority(in: folder).profile
            let second = try await TestAuthority(in: folder).profile
            try DurableFile(path: home.storePath).create([1])
            try home.setAsideStore(notOf: first.trust)
            #expect(!DurableFile(path: home.storePath).exists)

            try home.directory.replace(with: first.encoded)
            try DurableFile(path: home.storePath).create([2])
            try home.setAsideStore(notOf: first.trust)
            #expect(DurableFile(path: home.storePath).exists)
            try home.setAsideStore(notOf: second.trust)
            #expect(!DurableFile(path: home.storePath).exists)
            let names = ["earlier-1", "earlier-2"]
            #expect(home.stores.map(\.name) == names)
            for (number, store) in home.stores.enumerated() {
                #expect(try DurableFile(path: store.path).read(maximumByteCount: 9) == [UInt8(number + 1)])
            }
        }
    }

    @Test func everyStoreOfAHomeIsListed_theAccountsStoreFirst() async throws {
        try await withTemporaryFolder { folder in
            let home = try Self.home(in: folder)
            #expect(home.stores.isEmpty)
            let guest = try await TestAuthority(in: folder).profile
            try DurableFile(path: home.storePath(of: guest.trust)).create([])
            try home.guestProfile(of: guest.trust).create(guest.encoded)
            try DurableFile(path: home.storePath).create([])
            #expect(home.stores.map(\.path) == [home.storePath, home.storePath(of: guest.trust)])
            #expect(home.stores.map(\.name) == [nil, HomeFolder.name(of: guest.trust)])
            #expect(try HomeFolder.profile(in: home.stores[1].profile) == guest)
        }
    }

    @Test func aHomeIsLockedByOneProcessAtATime() async throws {
        try await withTemporaryFolder { folder in
            let home = try Self.home(in: folder)
            var first = try home.lock()
            #expect(first != nil)
            #expect(try home.lock() == nil)
            first = nil
            #expect(try home.lock() != nil)
        }
    }

    @Test func aDescriptorInheritedByAnotherProgramDoesNotKeepTheLock() async throws {
        try await withTemporaryFolder { folder in
            let home = try Self.home(in: folder)
            var first = try home.lock()
            let copies = try DescriptorCopies(of: home.path)
            #expect(first != nil && copies.numbers.count == 1)
            first = nil
            #expect(try home.lock() != nil)
            withExtendedLifetime(copies) {}
        }
    }
}
