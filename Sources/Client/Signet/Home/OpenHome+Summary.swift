// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
import SignetClient

/// What a device knows without asking anyone.
public struct HomeSummary: Sendable {
    /// The people whom this device knows, in order of handle.
    public let people: [KnownPerson]
    /// The largest checkpoint of the directory's log that this device verified; nil before the first.
    public let log: LogView?
    /// When the last check of the user's own account ended without an alarm, in seconds since 1970; nil before the first.
    public let lastCheck: UInt64?
}

extension OpenHome {
    /// What this device knows. The directory is not asked, and no key is needed.
    ///
    /// - Throws: ``SignetError``: the store cannot be read.
    public func summary() async throws(SignetError) -> HomeSummary {
        let (people, log, lastCheck): ([KnownPerson], LogView?, UInt64?)
        people = try await self.people()
        do throws(ClientError) { log = try await client.logView() } catch { throw .client(error) }
        do throws(StoreError) { lastCheck = try await client.store.lastCheck() } catch {
            throw .store(error, path: storePath)
        }
        return HomeSummary(people: people, log: log, lastCheck: lastCheck)
    }
}
