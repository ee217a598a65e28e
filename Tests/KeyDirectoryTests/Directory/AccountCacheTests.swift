// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import SignetAPI
import Testing
import TransparencyLog

@testable import KeyDirectory

@Suite(.everyEngine) struct AccountCacheTests {
    let place: Place
    let account: PublishedAccount

    let accounts: [PublishedAccount]

    init() async throws {
        place = try Place()
        let directory = try await place.create()
        var accounts: [PublishedAccount] = []
        for name in ["alice@example.org", "bob@example.org", "carol@example.org"] {
            var person = try Person(name)
            let receipt = try await person.register(at: directory)
            accounts.append(try #require(try await directory.account(person.handle, size: receipt.size)))
        }
        self.accounts = accounts
        account = accounts[0]
        await directory.close()
    }

    private var handle: Handle { account.account.handle }

    @Test func find_returnsAKeptAccount() {
        let cache = AccountCache()
        let (missing, ticket) = cache.find(handle, size: 4)
        #expect(missing == nil)
        cache.keep(account, ticket)
        #expect(cache.find(handle, size: 4).0 != nil)
    }

    @Test func find_withholdsAnAccountFromASmallerCheckpoint() {
        let cache = AccountCache()
        cache.keep(account, cache.find(handle, size: 4).1)
        #expect(cache.find(handle, size: 2).0 == nil)
    }

    @Test func find_doesNotReturnAForgottenAccount() {
        let cache = AccountCache()
        cache.keep(account, cache.find(handle, size: 4).1)
        cache.forget(handle)
        #expect(cache.find(handle, size: 4).0 == nil)
    }

    @Test func keep_ignoresAnAccountThatWasReadBeforeItWasForgotten() {
        let cache = AccountCache()
        let (_, ticket) = cache.find(handle, size: 4)
        cache.forget(handle)
        cache.keep(account, ticket)
        #expect(cache.find(handle, size: 4).0 == nil)
    }

    @Test func aFullCacheForgetsTheAccountThatItKeptFirst() {
        let cache = AccountCache(capacity: 1)
        for account in accounts { cache.keep(account, cache.find(account.account.handle, size: 10).1) }
        #expect(accounts.map { cache.find($0.account.handle, size: 10).0 != nil } == [false, true, true])
    }
}
