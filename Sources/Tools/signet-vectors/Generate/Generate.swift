import ArgumentParser
import Foundation
import KeyTransparencyTesting

/// Makes the project's own vectors.
struct Generate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate", abstract: "Make Signet's own vectors; two runs give identical bytes.",
        subcommands: [GenerateTlogProof.self, GenerateLookup.self])
}

/// Writes the tlog-proof set into a folder.
struct GenerateTlogProof: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tlog-proof", abstract: "Good tlog-proofs and bad ones with one fault each.")

    @Argument(help: "The folder, made when missing. Files of the same names are replaced.") var path: String

    func run() throws {
        let folder = URL(filePath: path)
        for (name, bytes) in try TlogProofSet.files() {
            let file = folder.appending(path: name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(bytes).write(to: file)
        }
    }
}

/// Writes the sets of lookups, milestones and recoveries into a folder.
struct GenerateLookup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lookup",
        abstract: "Good answers to lookups, milestones and recoveries, and bad ones with one fault each.")

    @Argument(
        help: "The folder, made when missing. lookup.json, milestones.json and recovery-delay.json are replaced.")
    var path: String

    func run() throws {
        let folder = URL(filePath: path)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (name, bytes) in try LookupVectorSet.files() {
            try Data(bytes).write(to: folder.appending(path: name))
        }
    }
}
