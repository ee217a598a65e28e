import ArgumentParser
import CanonicalCoding
import KeyTransparency
import SignetAPI
import SignetClient
import TransparencyLog

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// `signet evidence`
struct Evidence: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Proof that a directory contradicted itself, kept for ever.",
        subcommands: [List.self, Export.self])
}

extension LogContradiction {
    fileprivate var faultName: String {
        switch fault {
        case .rollback: "rollback"
        case .fork: "fork"
        case .inconsistent: "inconsistent"
        }
    }
}

extension Evidence {
    /// `signet evidence list`
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List what was kept.")

        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home)
            let kept = try await session.stored { store throws(StoreError) in try await store.evidence() }
            let values = kept.map { evidence -> JSONValue in
                [
                    "fault": .string(evidence.faultName), "known": .text(evidence.known.note),
                    "origin": .text(evidence.known.origin.bytes), "received": .text(evidence.received.note),
                ]
            }
            let lines = kept.enumerated().map { number, evidence in
                """
                  \(number + 1)  \(JSONValue.printable(evidence.known.origin.bytes)): \(evidence.sentence.what)
                     had   \(LookupFacts.describe(evidence.known))
                     shown \(LookupFacts.describe(evidence.received))
                """
            }
            output.emit(
                ["evidence": .array(values)],
                lines.isEmpty
                    ? "Nothing: no directory has contradicted itself." : lines.joined(separator: "\n"))
        }
    }

    /// `signet evidence export`
    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write each pair of signed statements into files that anybody can check.")

        @Argument(help: "A folder.") var folder: String
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home)
            let kept = try await session.stored { store throws(StoreError) in try await store.evidence() }
            guard mkdir(folder, 0o755) == 0 || errno == EEXIST else {
                throw CommandFailure(
                    .badFile, "The folder \(folder) cannot be made.", "Check its name and permissions.")
            }
            var files = [("policy", session.profile.trust.policy.encoded)]
            for (number, evidence) in kept.enumerated() {
                files.append(("\(number + 1)-\(evidence.faultName)-known.note", evidence.known.note))
                files.append(("\(number + 1)-\(evidence.faultName)-received.note", evidence.received.note))
            }
            for (name, bytes) in files {
                let path = "\(folder)/\(name)"
                do { try DurableFile(path: path).replace(with: bytes) } catch {
                    throw CommandFailure(error, path: path)
                }
            }
            output.emit(
                ["files": .array(files.map { .string($0.0) })],
                "\(Moment.count(UInt64(kept.count), "contradiction")) in \(folder).")
        }
    }
}
