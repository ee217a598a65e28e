import SignetAPI
import SignetClient

extension Session {
    /// Keeps the pins that the directory's log has, for the next connections, unless newer ones are kept already.
    ///
    /// - Returns: whether other keys are accepted from now on.
    @discardableResult
    func keep(_ pins: DirectoryPins) throws(ClientError) -> Bool {
        guard !isGuest, let kept = try? home.profile(), kept.mark?.version ?? 0 < pins.version else { return false }
        do { try home.directory.replace(with: kept.following(pins).encoded) } catch { throw .store(.file(error)) }
        return kept.server != pins.server
    }

    /// Takes pins that came as a file, because no server is reached by those in use. They are kept only after the directory, reached
    /// by them alone, has shown that its log has them.
    ///
    /// - Returns: the newest that the log has.
    /// - Throws: `CommandFailure`: nothing has changed.
    func accept(_ note: [UInt8]) async throws -> DirectoryPins {
        let candidate: DirectoryProfile
        do throws(DirectoryPinsError) {
            candidate = profile.following(try PinsVerifier(profile).verify(file: note))
        } catch {
            throw CommandFailure(ClientError.pins(error), session: self)
        }
        let client = try Self.client(storePath, candidate, keystore, reports: home.reports)
        do throws(ClientError) {
            let pins = try await client.newestPins()
            try keep(pins)
            return pins
        } catch { throw CommandFailure(error, session: self) }
    }
}
