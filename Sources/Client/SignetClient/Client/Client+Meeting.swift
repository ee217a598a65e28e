// SPDX-License-Identifier: Apache-2.0

package import KeyTransparency

/// What a meeting in person keeps about the other person. The directory is not asked.
extension Client {
    /// The identity keys that this device goes by: those that are pinned, and of people who were met and not looked up yet, those that
    /// they proved then.
    package func knownIdentityKeys() async throws(ClientError) -> [Handle: [UInt8]] {
        let (pinned, compared) = try await stored { () throws(StoreError) in
            (try await store.pinnedPeers(), try await store.comparisons())
        }
        var keys: [Handle: [UInt8]] = [:]
        for comparison in compared where comparison.kind == .meeting {
            keys[comparison.handle] = comparison.identityKey
        }
        for peer in pinned { keys[peer.handle] = peer.identityKey }
        return keys
    }

    /// Keeps a meeting whole or not at all, and adds the person to those whom the user knows.
    package func keep(_ meeting: KeptMeeting) async throws(ClientError) {
        try await stored { () throws(StoreError) in try await store.keep(meeting) }
    }

    /// The sealed record of the last meeting with a person; nil if they did not meet on this device.
    package func meetingRecord(of handle: Handle) async throws(ClientError) -> [UInt8]? {
        try await stored { () throws(StoreError) in try await store.meetingRecord(of: handle) }
    }
}
