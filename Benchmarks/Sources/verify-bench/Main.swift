/// What verifying costs beside the cryptography that it cannot do without.
@main struct VerifyBench {
    static func main() throws {
        try InclusionCost().report()
        try LookupCost().report()
    }
}
