/// What verifying costs beside the cryptography that it cannot do without.
@main struct VerifyBench {
    static func main() throws {
        try InclusionCost().report()
        let labelCount = 1_000_000
        let paper = try PaperLookup(labelCount: labelCount)
        try IndexCost(paper).report()
        try LookupCost(paper).report(labelCount: labelCount)
    }
}
