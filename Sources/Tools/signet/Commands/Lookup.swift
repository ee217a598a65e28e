import ArgumentParser
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

/// `signet lookup`
struct Lookup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Look somebody up, check everything, and say what was checked.",
        discussion: """
            Exit status 0 only if every check held and the devices are not others than you accepted; 4 if it is proven \
            that nobody has registered the handle, or that the account was closed.
            """
    )

    @Argument(help: "Their handle.") var handle: String
    @Flag(help: "Show the values that were compared, and what is not proven.") var explain = false
    @Option(
        help: ArgumentHelp(
            "Write an offline proof into this folder, for 'signet proof verify'.", valueName: "dir"))
    var saveProof: String?
    @OptionGroup var other: DirectoryOptions
    @OptionGroup var home: HomeOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let handle = try Handle.typed(handle)
        var session = try Session(home, directory: other.directory)
        let comparison = try await session.comparison(with: handle)
        var attempt = await session.answer(about: handle)
        if case .failure(let error) = attempt, let caughtUp = try await session.caughtUp(after: error) {
            session = caughtUp
            attempt = await session.answer(about: handle)
        }
        let answer: LookupAnswer
        do { answer = try attempt.get() } catch {
            guard case .lookup(let refusal) = error else { throw CommandFailure(error, session: session) }
            return try LookupPage(refusal: refusal, session: session).finish(output, isExplained: explain)
        }
        OwnAccountWatch.arm(session.client)
        if let saveProof, case .registered(let verdict) = answer { try save(verdict.lookup, saveProof, session) }
        try LookupPage(answer: answer, comparison, session: session).finish(output, isExplained: explain)
    }

    private func save(_ lookup: VerifiedLookup, _ folder: String, _ session: Session) throws {
        guard mkdir(folder, 0o755) == 0 || errno == EEXIST else {
            throw CommandFailure(
                .badFile, "The folder \(folder) cannot be made.", "Check its name and permissions.")
        }
        guard let proof = try? lookup.tlogProof() else {
            throw CommandFailure(.bug, "The proof cannot be written down.", CommandFailure.bugRemedy)
        }
        let files = [
            ("policy", session.profile.trust.policy.encoded), ("account.tlog-proof", proof.encoded),
            ("account.entry", lookup.record.entry),
        ]
        for (name, bytes) in files {
            let path = "\(folder)/\(name)"
            do { try DurableFile(path: path).replace(with: bytes) } catch {
                throw CommandFailure(error, path: path)
            }
        }
    }
}

extension Session {
    fileprivate func answer(about handle: Handle) async -> Result<LookupAnswer, ClientError> {
        do { return .success(try await client.lookup(handle)) } catch { return .failure(error) }
    }
}
