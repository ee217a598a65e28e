// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CanonicalCoding
import KeyTransparency
import Signet
import SignetAPI
import TransparencyLog

/// `signet lookup`
struct Lookup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lookup", abstract: "Look someone up, check everything, and say what was checked.",
        discussion: """
            Exit status 0 only if every check passed and the devices are those that you accepted; 4 if it is proven \
            that no one has registered the handle, or that the account was closed.

            Examples:
              signet lookup bob@example.org
              signet lookup bob@example.org --explain
            """
    )

    @Argument(help: "Their handle.") var handle: String
    @Flag(help: "Show the values that were compared, and what is not proven.") var explain = false
    @Option(
        help: ArgumentHelp(
            "Write an offline proof into this folder, for 'signet proof verify'.", valueName: "dir"))
    var saveProof: String?
    @Flag(
        name: .customLong("ecall"),
        help: "Ask and check as the eCall guide does, which proves less; nothing is compared or pinned.")
    var isECall = false
    @Option(
        help: ArgumentHelp("With --ecall: the log's raw key, if not the directory file's.", valueName: "base64"))
    var logKey: String?
    @OptionGroup var other: DirectoryOptions
    @OptionGroup var home: ClosedHomeOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if isECall && (explain || saveProof != nil) {
            throw ValidationError("--ecall has no page to explain and no proof to save.")
        }
        if logKey != nil && !isECall { throw ValidationError("--log-key goes with --ecall.") }
    }

    func run() async throws {
        let handle = try Handle.typed(handle)
        let session = try Session(home, directory: other.directory)
        if isECall { return try await eCallPage(of: handle, session).show(output) }
        let comparison = try await session.comparison(with: handle)
        let answered = try await session.read { home throws(SignetError) in try await home.lookup(handle) }
        try show(answered.result, comparison, session.moved(to: answered.home))
    }

    private func show(
        _ result: Result<LookupAnswer, LookupRefusal>, _ comparison: ComparisonState, _ session: Session
    ) throws {
        let answer: LookupAnswer
        switch result {
        case .success(let found): answer = found
        case .failure(let refusal):
            return try LookupPage(refusal: refusal, session: session).finish(output, isExplained: explain)
        }
        OwnAccountWatch.arm(session)
        if let saveProof, case .registered(let verdict) = answer { try save(verdict.lookup, saveProof, session) }
        try LookupPage(answer: answer, comparison, session: session).finish(output, isExplained: explain)
    }

    private func eCallPage(of handle: Handle, _ session: Session) async throws -> ECallPage {
        do throws(ClientError) {
            var key: [UInt8]?
            if let logKey {
                do { key = try Base64.decode(Array(logKey.utf8)) } catch { throw .misuse(.notALogKey) }
            }
            return ECallPage(handle: handle, keys: try await session.open.client.eCallKeys(of: handle, logKey: key))
        } catch {
            if case .withheld = error {
                throw CommandFailure(
                    .notProven, "The directory names no device of \(handle), which proves nothing.",
                    "Without --ecall it is proven whether anyone has registered this handle.")
            }
            throw CommandFailure(error, session: session)
        }
    }

    private func save(_ lookup: VerifiedLookup, _ folder: String, _ session: Session) throws {
        guard let proof = try? LookupProof(of: lookup) else {
            throw CommandFailure(.bug, "The proof cannot be encoded.", CommandFailure.bugRemedy)
        }
        let files = [
            ("policy", session.profile.trust.policy.encoded), ("account.tlog-proof", proof.proof.encoded),
            ("account.entry", proof.entry),
        ]
        try OutputFile.write(files.map { (name: $0.0, bytes: $0.1) }, into: folder, outside: session.home)
    }
}
