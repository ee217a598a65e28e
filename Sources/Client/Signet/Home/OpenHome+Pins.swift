// SPDX-License-Identifier: Apache-2.0

public import SignetAPI
public import SignetClient

extension OpenHome {
    /// Stores the pins that the directory's log has, for the next connections, unless newer pins are already stored.
    ///
    /// - Returns: whether different keys are accepted from now on.
    @discardableResult
    public func keep(_ pins: DirectoryPins) throws(ClientError) -> Bool {
        guard !isGuest, let kept = try? folder.profile(), kept.mark?.version ?? 0 < pins.version else { return false }
        do { try folder.directory.replace(with: kept.following(pins).encoded) } catch { throw .store(.file(error)) }
        return kept.server != pins.server
    }

    /// Accepts pins from a file, for when the server cannot be reached with the pins in use. They are stored only after the
    /// directory, reached with these pins alone, has shown that its log has them.
    ///
    /// - Returns: the newest pins that the log has.
    /// - Throws: ``SignetError``: nothing has changed.
    public func accept(_ note: [UInt8]) async throws(SignetError) -> DirectoryPins {
        let candidate: DirectoryProfile
        do throws(DirectoryPinsError) {
            candidate = profile.following(try PinsVerifier(profile).verify(file: note))
        } catch { throw .client(.pins(error)) }
        let client = try Self.client(storePath, candidate, keystore, reports: folder.reports, in: surroundings)
        do throws(ClientError) { return try await newestPins(by: client) } catch { throw .client(error) }
    }

    /// Asks the directory for the newest pins that its log has, and stores them for the next connections.
    ///
    /// - Returns: the pins, and the home that is now in force.
    /// - Throws: ``SignetError``, as ``run(_:)`` does.
    public func updatePins() async throws(SignetError) -> (pins: DirectoryPins, home: OpenHome) {
        let (pins, home) = try await run { client throws(ClientError) in try await newestPins(by: client) }
        return (pins, home)
    }

    private func newestPins(by client: Client<SQLiteStore>) async throws(ClientError) -> DirectoryPins {
        let pins = try await client.newestPins()
        try keep(pins)
        return pins
    }
}
