package import KeyTransparency

/// What a recovery keeps of other people, and brings back.
extension Client {
    /// What the user compared with whom.
    package func comparisons() async throws(ClientError) -> [Comparison] {
        try await stored { () throws(StoreError) in try await store.comparisons() }
    }

    /// Adds people who came back with a recovered identity, and what was compared with them, on the day it was.
    package func remember(_ handles: [Handle], _ comparisons: [Comparison]) async throws(ClientError) {
        try await remember(handles)
        for comparison in comparisons {
            try await stored { () throws(StoreError) in try await store.keep(comparison) }
        }
    }
}
