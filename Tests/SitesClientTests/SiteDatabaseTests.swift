// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import Foundation
import GRDB
import RelyingParty
import SiteServer
import Testing

/// A site's member file of an earlier and of a later version.
@Suite struct SiteDatabaseTests {
    @Test func aFileWithoutMigrationsIsRead_andOneOfALaterVersionIsRefused() async throws {
        let path = FileManager.default.temporaryDirectory.appending(component: "site-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        _ = try SiteDatabase(path: path)
        let queue = try DurableDatabase.queue(at: path, nil, origin: .kept)
        let sql = """
            DROP TABLE grdb_migrations; DROP TABLE shown;
            INSERT INTO key VALUES (x'01', x'02'); INSERT INTO member VALUES (x'02', x'03')
            """
        try await queue.write { try $0.execute(sql: sql) }
        let again = try SiteDatabase(path: path)
        // The row is found, and its bytes are no member.
        await #expect(throws: SiteStoreError.damaged) { try await again.member(withKey: [1]) }
        try await queue.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('9: from the future')") }
        #expect(throws: SiteStoreError.damaged) { try SiteDatabase(path: path) }
    }
}
