// SPDX-License-Identifier: Apache-2.0

import CardSigner
import CardSigning
package import KeyDirectory
package import KeyTransparency
package import Logging
package import SignetAPI

/// Signs wallet cards, and has the log say with which keys.
///
/// The files are read again at every interval. A server without them answers that it signs no cards.
package actor CardSignerAnswering: PartAnswering {
    private let files: CardSignerFiles
    private let directory: Directory
    private let clock: @Sendable () -> UInt64
    private let logger: Logger
    private var ledger: TokenLedger?
    private var signer: SigningDesk?

    /// Answers from the files of a data directory.
    package init(
        _ data: DataDirectory, beside directory: Directory, in engines: SharedEngines? = nil,
        clock: @escaping @Sendable () -> UInt64, logger: Logger
    ) {
        files = CardSignerFiles(data, in: engines)
        self.directory = directory
        self.clock = clock
        self.logger = logger
    }

    package nonisolated var routes: [any PartRoute] { CardSigningRoute.allCases }

    package func answer(_ request: PartRequest) async throws(PartRefusal) -> [UInt8] {
        switch request.route as? CardSigningRoute {
        case .signer: try await statement(request.body).encoded
        case .tokens: try await tokens(request.body, request.caller).encoded
        case .sign: try await signature(request.body).encoded
        case nil: throw PartRefusal(.notFound)
        }
    }

    private func statement(_ body: [UInt8]) async throws(PartRefusal) -> StatementAnswer {
        guard let size = (try? StatementRequest(decoding: body))?.size else { throw PartRefusal(.badRequest) }
        guard let signer else { return .none }
        do throws(DirectoryError) {
            return try await directory.answer(
                signer.statement.text, signer.statement.version, under: .cardSigner, in: size)
        } catch { throw PartRefusal(waiting: error) }
    }

    private func tokens(_ body: [UInt8], _ caller: Caller?) async throws(PartRefusal) -> TokensAnswer {
        guard let signer else { throw PartRefusal(.notFound) }
        guard let caller, let question = TokensRequest(decoding: body) else { throw PartRefusal(.badRequest) }
        let answer: TokensAnswer?
        do { answer = try await signer.tokens(for: question, of: caller.handle, at: clock()) } catch {
            throw PartRefusal(.unavailable)
        }
        guard let answer else { throw PartRefusal(.badRequest) }
        return answer
    }

    private func signature(_ body: [UInt8]) async throws(PartRefusal) -> CardDigestAnswer {
        guard let signer else { throw PartRefusal(.notFound) }
        guard let question = CardDigestRequest(decoding: body) else { throw PartRefusal(.badRequest) }
        let answer: CardDigestAnswer?
        do { answer = try await signer.answer(to: question, at: clock()) } catch { throw PartRefusal(.unavailable) }
        guard let answer else { throw PartRefusal(.unavailable) }
        return answer
    }

    /// Reads the files, and logs a statement that is newer than the log.
    package func keepUp() async {
        guard files.exist else { return }
        do {
            let ledger = try self.ledger ?? files.ledger()
            self.ledger = ledger
            let signer = try files.signer(ledger)
            self.signer = signer
            try await log(signer.statement)
        } catch DirectoryError.refused(.unwitnessed) {
            // Published as soon as the quorum has cosigned.
        } catch {
            logger.error("cards: the keys were not read, or not logged; trying again later")
        }
    }

    private func log(_ statement: CardSignerStatement) async throws {
        let next = directory.version(of: .cardSigner) + 1
        guard directory.writesLog, !directory.hasEnded, statement.version == next else { return }
        try await directory.log(statement.text, under: .cardSigner, version: next)
    }

    /// Forgets how many tokens the account has had, also where nothing can be signed.
    package func erase(_ handle: Handle) async throws {
        if let ledger { return try await ledger.erase(handle) }
        try await files.erase(handle)
    }

    package func close() async { ledger?.close() }
}
