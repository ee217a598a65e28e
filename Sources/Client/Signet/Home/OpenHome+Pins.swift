// SPDX-License-Identifier: Apache-2.0

public import SignetAPI
public import SignetClient

extension OpenHome {
    /// Stores the pins that the directory's log has, for the next connections, unless newer pins are already stored.
    ///
    /// - Returns: whether different keys are accepted from now on.
    @discardableResult
    public func keep(_ pins: DirectoryPins) throws(ClientError) -> Bool { try keep(pins, inPlaceOf: nil) }

    /// - Parameter mark: pins of the same version, which the log does not have.
    private func keep(_ pins: DirectoryPins, inPlaceOf mark: PinsMark?) throws(ClientError) -> Bool {
        guard !isGuest, let kept = try? folder.profile() else { return false }
        let replaces = kept.mark == mark && mark?.version == pins.version && mark != pins.mark
        guard replaces || kept.mark?.version ?? 0 < pins.version else { return false }
        do { try folder.directory.replace(with: kept.following(pins).encoded) } catch { throw .store(.file(error)) }
        return kept.server != pins.server
    }

    /// Accepts pins from a file, for when the server cannot be reached with the pins in use. They are stored only after the
    /// directory, reached with these pins alone, has shown that its log has them. If the log's keys have changed meanwhile, the change is
    /// verified first, as anywhere.
    ///
    /// - Parameters:
    ///   - file: pins that the directory's recovery key has signed, or a directory file; newer than those in use, or others of the same
    ///     version, which the log then has to have.
    ///   - isApproved: whether the user knows that other or fewer witnesses suffice after that change, and approves of the pins that these
    ///     have seen. The change itself is still to be followed.
    /// - Returns: the newest pins that the log has.
    /// - Throws: ``SignetError``: nothing has changed. ``SignetError/quorumWeakened``: after the change fewer or other witnesses would suffice.
    public func accept(_ file: [UInt8], isApproved: Bool = false) async throws(SignetError) -> DirectoryPins {
        let candidate: DirectoryProfile
        do throws(DirectoryPinsError) { candidate = try self.candidate(in: file) } catch { throw .client(.pins(error)) }
        let client = try client(of: candidate)
        do throws(ClientError) { return try await newestPins(by: client, toTake: candidate.mark) } catch {
            guard let changed = try? await client.succession() else { throw .client(error) }
            guard isApproved || !changed.weakensQuorum else { throw .quorumWeakened }
            let next = try self.client(of: candidate.following(changed))
            do throws(ClientError) { return try await newestPins(by: next, toTake: candidate.mark) } catch {
                throw .client(error)
            }
        }
    }

    /// - Parameter stated: the pins that the log has to have, or later ones, if they are not those in use.
    private func newestPins(
        by client: Client<SQLiteStore>, toTake stated: PinsMark?
    ) async throws(ClientError) -> DirectoryPins {
        do throws(ClientError) {
            let pins = try await client.newestPins()
            _ = try keep(pins, inPlaceOf: pins.mark == stated ? profile.mark : nil)
            return pins
        } catch {
            guard let stated, stated != profile.mark else { throw error }
            switch error {
            // The log is compared with the file here, and not with what it had before.
            case .pins(.older), .pins(.replaced): throw .pins(.fileNotLogged(version: stated.version))
            default: throw error
            }
        }
    }

    private func candidate(in file: [UInt8]) throws(DirectoryPinsError) -> DirectoryProfile {
        let verifier = PinsVerifier(profile)
        if let directory = try? DirectoryProfile(decoding: file) { return try verifier.candidate(from: directory) }
        return profile.following(try verifier.verify(file: file))
    }

    private func client(of profile: DirectoryProfile) throws(SignetError) -> Client<SQLiteStore> {
        try Self.client(storePath, profile, keystore, reports: folder.reports, in: surroundings)
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
