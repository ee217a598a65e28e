import Foundation
import Testing

@testable import CallSimulation

struct DocumentationTests {
    /// `signet call simulate --compare --rotations 20 --seed 1`
    @Test func theTableInTheDocumentationIsWhatTheCommandPrints() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "Documentation/calls.md"), encoding: .utf8)
        // One of ten rows of `signet call simulate --events`: all of them take minutes.
        #expect(page.contains(EventTable.Row(.join, loss: 0.3, seeds: 1...40).markdown))
        if Seeds.isEverything { #expect(page.contains(EventTable(seeds: 1...40).markdown)) }
        let comparison = Comparison(Scenario())
        #expect(page.contains(comparison.markdown))
        let chart = try String(contentsOf: root.appending(path: "Documentation/calls.svg"), encoding: .utf8)
        #expect(chart == comparison.svg)
    }
}
