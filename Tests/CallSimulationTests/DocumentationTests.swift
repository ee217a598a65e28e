import Foundation
import Testing

@testable import CallSimulation

struct DocumentationTests {
    /// `signet call simulate --compare --rotations 20 --seed 1`
    @Test func theTableInTheDocumentationIsWhatTheCommandPrints() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "Documentation/calls.md"), encoding: .utf8)
        // Two of ten rows of `signet call simulate --events`: all of them take minutes.
        for (event, loss) in [(.leave, 0.05), (.join, 0.3)] as [(EventTable.Event, Double)] {
            #expect(page.contains(EventTable.Row(event, loss: loss, seeds: 1...40).markdown))
        }
        let comparison = Comparison(Scenario())
        #expect(page.contains(comparison.markdown))
        let chart = try String(contentsOf: root.appending(path: "Documentation/calls.svg"), encoding: .utf8)
        #expect(chart == comparison.svg)
    }
}
