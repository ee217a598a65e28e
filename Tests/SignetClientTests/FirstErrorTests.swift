// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import Signet
import SignetClient
import Testing

/// The errors that an app meets before it has an account are sentences, in print and on a screen.
@Suite struct FirstErrorTests {
    @Test(arguments: [
        ("robert", "exactly one @"), ("a@b@c", "exactly one @"), ("@example.net", "before the @"),
        ("rob ert@example.net", "before the @"), ("robert@", "after the @"),
        (String(repeating: "a", count: 250) + "@example.org", "too long"),
    ])
    func aMistypedHandleIsExplained(handle: String, words: String) throws {
        let error = try #require(throws: HandleError.self) { try Handle(handle) }
        #expect(error.explanation.what.contains(words))
        #expect("\(error)" == "\(error.explanation.what) \(error.explanation.remedy)")
        #expect(!"\(error)".contains(handle), "what was typed may be a secret that went into the wrong field")
    }

    @Test func aMissingDirectoryFileIsExplained() throws {
        let error = try #require(throws: HomeError.self) {
            try HomeFolder.profile(in: DurableFile(path: "/nowhere/directory.signet"))
        }
        #expect("\(error)" == "There is no directory file at this path. Check the path.")
    }

    @Test(arguments: [
        FileFault.notFound, .exists, .isDirectory, .notADirectory, .notPermitted, .noSpace, .readOnly,
        .tooLong(limit: 9),
        .openToOthers, .system(5),
    ])
    func aFaultOfAFileIsAClause(fault: FileFault) {
        #expect("\(fault)".contains(" "))
        #expect("\(HomeError.file(fault))".hasSuffix("."))
    }

    @Test func aComparisonPrintsWithoutKeys() throws {
        let key = [UInt8](repeating: 2, count: 33)
        let comparison = try Comparison(
            handle: Handle("bob@example.org"), identityKey: key, kind: .number, time: 1, metOn: nil)
        #expect("\(ComparisonState(nil, of: key))" == "no")
        #expect("\(ComparisonState(comparison, of: key))" == "yes")
        #expect("\(ComparisonState(comparison, of: [3] + key.dropFirst()))" == "not since their identity changed")
    }
}
