// SPDX-License-Identifier: Apache-2.0

package import KeyTransparency

/// What a recovery keeps about other people, and restores.
extension Client {
    /// The user's comparisons with other people.
    package func comparisons() async throws(ClientError) -> [Comparison] {
        try await stored { () throws(StoreError) in try await store.comparisons() }
    }

    /// Adds people who were restored with a recovered identity, and their comparisons, with the original days.
    package func remember(_ handles: [Handle], _ comparisons: [Comparison]) async throws(ClientError) {
        try await remember(handles)
        for comparison in comparisons {
            try await stored { () throws(StoreError) in try await store.keep(comparison) }
        }
    }
}
