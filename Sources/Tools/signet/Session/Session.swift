import Foundation
import KeyTransparency
import SignetAPI
import SignetClient
import TransparencyLog

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// An open home folder: its directory, its store, its keystore if there is one, and a client over them.
struct Session {
    let home: HomeFolder
    let options: HomeOptions
    let profile: DirectoryProfile
    let keystore: Keystore?
    let client: Client<SQLiteStore>
    /// Where the client's store is.
    let storePath: String
    /// Whether the directory is another one than the home's own.
    let isGuest: Bool

    /// Opens what is there.
    ///
    /// - Parameters:
    ///   - directory: a directory file to use instead of the home folder's; without an account one is
    ///     enough to look people up. Another directory than the home's has a store of its own, and there
    ///     the user is nobody.
    ///   - isBeginning: whether an account is being made here, which may have got no further than its keys.
    init(_ options: HomeOptions, directory: String? = nil, isBeginning: Bool = false) throws {
        self.options = options
        home = options.folder
        let file = directory.map { DurableFile(path: $0) } ?? home.directory
        guard directory != nil || file.exists else {
            throw CommandFailure(
                .usage, "There is no account in \(home.path).",
                "Make one with 'signet account create HANDLE --directory FILE', or name another folder with --home."
            )
        }
        do { profile = try HomeFolder.profile(in: file) } catch {
            throw CommandFailure(error, path: file.path)
        }
        do { try home.prepare() } catch { throw CommandFailure(error, path: home.path) }
        isGuest = directory != nil && !home.isBound(to: profile.trust)
        storePath = isGuest ? home.storePath(of: profile.trust) : home.storePath
        if isGuest { try Self.keep(profile, in: home.guestProfile(of: profile.trust)) }
        keystore = isGuest ? nil : try Self.keystore(home)
        if keystore != nil, !isBeginning { try Self.checkMemory(storePath) }
        client = try Self.client(storePath, profile, keystore, reports: home.reports)
    }

    /// Whose account it is.
    func owner() throws -> Keystore {
        guard let keystore else {
            throw CommandFailure(
                .usage, "There is no account in \(home.path).",
                "Make one with 'signet account create HANDLE --directory FILE'.")
        }
        return keystore
    }

    /// The device's keys, opened with the passphrase.
    func secrets() throws -> DeviceSecrets {
        _ = try owner()
        return try secrets(with: Passphrase.existing(options))
    }

    /// The device's keys, opened with a passphrase that was asked for already.
    func secrets(with passphrase: SecretBytes) throws -> DeviceSecrets {
        do { return try owner().open(with: passphrase) } catch let error as KeystoreError {
            throw CommandFailure(error, path: home.keystore.path)
        }
    }

    /// Runs something of the client's and says what went wrong. Changes of the directory's keys are followed on the way.
    ///
    /// - Parameter isWatching: whether to look at the own account when the command has ended, if that is due.
    func run<Value>(
        isWatching: Bool = true, _ body: (Client<SQLiteStore>) async throws(ClientError) -> Value
    ) async throws -> Value {
        var session = self
        var attempt = await session.attempt(body)
        if case .failure(let error) = attempt, let caughtUp = try await session.caughtUp(after: error) {
            session = caughtUp
            attempt = await session.attempt(body)
        }
        switch attempt {
        case .success(let value):
            if isWatching { OwnAccountWatch.arm(session) }
            return value
        case .failure(let error): throw CommandFailure(error, session: session)
        }
    }

    private func attempt<Value>(
        _ body: (Client<SQLiteStore>) async throws(ClientError) -> Value
    ) async -> Result<Value, ClientError> {
        do throws(ClientError) { return .success(try await body(client)) } catch { return .failure(error) }
    }

    /// This session under the directory's new keys, if their change is what a refusal came from; nil if it is not.
    ///
    /// - Throws: `CommandFailure`: the change needs the user's word.
    func caughtUp(after error: ClientError) async throws -> Session? {
        guard error.mayBeSuccession, !isGuest else { return nil }
        let succession: VerifiedSuccession
        do {
            guard let found = try await client.succession() else { return nil }
            succession = found
        } catch {
            // A chain that does not hold changes nothing: the refusal stands. A log that contradicts itself is worse.
            guard case .log = error else { return nil }
            throw CommandFailure(error, session: self)
        }
        guard !succession.weakensQuorum else {
            throw CommandFailure(
                .needsDecision,
                "The directory has changed its keys, and other or fewer witnesses would suffice from now on.",
                "Look at the change with 'signet directory update', and ask whoever runs it.")
        }
        guard try await !holdsEvidence() else {
            throw CommandFailure(
                .needsDecision, "The directory has changed its keys, and you hold evidence against it.",
                "Look at it with 'signet evidence list', and ask whoever runs the directory; 'signet directory update --accept' goes on."
            )
        }
        return try await adopt(succession)
    }

    /// Whether the store has evidence against the directory's log.
    func holdsEvidence() async throws -> Bool {
        do { return try await client.holdsEvidence() } catch { throw CommandFailure(error, session: self) }
    }

    /// Whether the user compared the identity key that is pinned for somebody.
    func comparison(with handle: Handle) async throws -> ComparisonState {
        do { return try await client.comparison(with: handle) } catch { throw CommandFailure(error, session: self) }
    }

    /// Keeps the directory's new keys, and goes on with them.
    func adopt(_ succession: VerifiedSuccession) async throws -> Session {
        do throws(ClientError) { try await client.remember(succession) } catch {
            throw CommandFailure(error, session: self)
        }
        do { try home.directory.replace(with: profile.following(succession).encoded) } catch {
            throw CommandFailure(error, path: home.directory.path)
        }
        Output.error("The directory has new keys. Their change was in its log, cosigned by the quorum of before.")
        return try Session(options)
    }

    static func keystore(_ home: HomeFolder) throws -> Keystore? {
        guard home.keystore.exists else { return nil }
        let bytes: [UInt8]
        do {
            bytes = try home.keystore.read(maximumByteCount: Keystore.maximumByteCount, isSecret: true)
        } catch { throw CommandFailure(error, path: home.keystore.path) }
        do { return try Keystore(decoding: bytes) } catch {
            throw CommandFailure(error, path: home.keystore.path)
        }
    }

    /// Whoever has keys has a memory: an empty file in its place has lost whom the user knows, and would believe any key.
    private static func checkMemory(_ path: String) throws {
        func byteCount(_ path: String) -> UInt64? {
            (try? FileManager.default.attributesOfItem(atPath: path))?[.size].flatMap { ($0 as? NSNumber)?.uint64Value }
        }
        guard byteCount(path) == 0, byteCount(path + "-wal") ?? 0 == 0 else { return }
        throw CommandFailure(
            .badFile, "\(path) is empty: this home has lost its memory of whose keys are whose.",
            "Put it back from a copy. Without one, remove it, and compare keys with your people again as you add them.")
    }

    private static func keep(_ profile: DirectoryProfile, in file: DurableFile) throws {
        guard !file.exists else { return }
        do { try file.replace(with: profile.encoded) } catch { throw CommandFailure(error, path: file.path) }
    }

    static func client(
        _ storePath: String, _ profile: DirectoryProfile, _ keystore: Keystore?, reports: DurableFile
    ) throws -> Client<SQLiteStore> {
        let store: SQLiteStore
        let surroundings: Surroundings
        do throws(StoreError) {
            store = try SQLiteStore.open(at: storePath, of: profile.trust.policy.logs.first?.name)
            surroundings = .system.notBefore(try store.newestTime())
        } catch { throw CommandFailure(error, path: storePath) }
        let transport: NIOTransport
        do throws(TransportError) {
            let spool = ReportSpool(reports)
            let connector = try profile.connector(in: surroundings) { report in
                // A report that cannot be kept changes nothing about the refusal.
                _ = try? spool.add(report)
            }
            transport = NIOTransport(to: try DirectoryAddress(profile.url), through: connector)
        } catch { throw CommandFailure(.badFile, error.sentence(profile.url)) }
        do {
            return try Client(
                of: profile, over: transport, remembering: store,
                owner: keystore.map {
                    .init(handle: $0.handle, deviceKey: $0.keys.signing, identityKey: $0.identityKey)
                }, in: surroundings)
        } catch { throw CommandFailure(.badFile, error.sentence(profile.url)) }
    }
}

/// Asks a person a question at the terminal.
enum Question {
    /// Whether the answer was yes.
    ///
    /// - Throws: `CommandFailure`: there is no terminal to ask at.
    static func confirm(_ question: String, option: String) throws -> Bool {
        guard isatty(STDIN_FILENO) == 1 else {
            throw CommandFailure(
                .needsDecision, "This needs your decision, and there is no terminal to ask at.",
                "Look at the change, then say \(option).")
        }
        Output.error("\(question) [y/N]")
        let answer = readLine(strippingNewline: true) ?? ""
        return answer == "y" || answer == "Y" || answer == "yes"
    }
}
