// SPDX-License-Identifier: Apache-2.0

import KeyDirectory
import KeyTransparency
import Logging
import SignetAPI
import TransparencyLog

/// Has the log say which pages the server sends to browsers, and shows it.
///
/// The log's last record tells whether these are the pages of before: nothing is kept beside it.
actor PagesAnswering: PartAnswering {
    private let hashes: [WebPage: [UInt8]]
    private let origin: KeyName
    private let directory: Directory
    private let logger: Logger
    private var statement: LoggedPages?

    init(_ explorer: ExplorerFiles, of origin: KeyName, beside directory: Directory, logger: Logger) {
        hashes = explorer.hashes
        self.origin = origin
        self.directory = directory
        self.logger = logger
    }

    nonisolated var routes: [any PartRoute] { PagesRoute.allCases }

    func answer(_ request: PartRequest) async throws(PartRefusal) -> [UInt8] {
        guard let size = (try? StatementRequest(decoding: request.body))?.size else { throw PartRefusal(.badRequest) }
        guard let statement else { return StatementAnswer.anotherEpoch.encoded }
        do throws(DirectoryError) {
            return try await directory.answer(
                statement.text, statement.version, under: .pages, in: size
            ).encoded
        } catch { throw PartRefusal(waiting: error) }
    }

    /// Logs the pages if they are not those of the last record.
    func keepUp() async {
        do {
            let last = directory.version(of: .pages)
            if last > 0, let known = pages(last), try directory.isNewest(known.text, under: .pages) {
                statement = known
                return
            }
            guard directory.writesLog, !directory.hasEnded, let next = pages(last + 1) else { return }
            try await directory.log(next.text, under: .pages, version: next.version)
            statement = next
        } catch DirectoryError.refused(.unwitnessed) {
            // Published as soon as the quorum has cosigned.
        } catch {
            logger.error("pages: which ones the server sends was not logged; trying again later")
        }
    }

    private func pages(_ version: UInt64) -> LoggedPages? {
        LoggedPages(origin: origin, version: version, hashes: hashes)
    }

    func close() async {}
}
