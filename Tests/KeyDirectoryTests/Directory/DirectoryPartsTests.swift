// SPDX-License-Identifier: Apache-2.0

import EngineLab
import Testing

@testable import KeyDirectory

/// Whether a server has listed what is beside the records is in the database itself.
@Suite struct DirectoryPartsTests {
    @Test func aNewDirectoryHasNoList_andOneThatHadAListHasHadIt() async throws {
        let place = try Place(on: .sqlite)
        let directory = try await place.create()
        #expect(try !directory.hasListOfParts())
        try directory.noteListOfParts()
        #expect(try directory.hasListOfParts())
        await directory.close()
        #expect(try Directory.hasListOfParts(at: place.path))
        let again = try await place.open()
        #expect(try again.hasListOfParts())
        try again.noteListOfParts()
        await again.close()
    }
}
