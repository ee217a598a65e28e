/// What replaying a log costs an auditor, beside the hashing that it cannot do without.
@main struct AuditBench {
    static func main() throws {
        for labels in [UInt64(10_000), 100_000, 1_000_000] { try ReplayCost(labels: labels).report() }
    }
}
