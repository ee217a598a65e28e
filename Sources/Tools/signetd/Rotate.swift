import ArgumentParser
import Foundation
import Logging
import SignetServer
import TransparencyLog

/// `signetd rotate`
struct Rotate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Change the log's key or its witnesses without locking anyone out.",
        discussion: """
            The change is logged and cosigned under the old keys and witnesses first; clients then follow it by \
            themselves, however long they slept. A change after which fewer or other witnesses suffice is one that \
            clients ask their user about. The server must not be running. Whatever interrupts it, the same command \
            again completes it.
            """,
        subcommands: [LogKey.self, Witnesses.self])

    struct RootsOption: ParsableArguments {
        @Option(help: ArgumentHelp("Root certificates of witnesses, beside the system's, PEM.", valueName: "file"))
        var witnessRoots: String?

        func read() throws -> [UInt8] { try witnessRoots.map { try Rotate.bytes(of: $0, "--witness-roots") } ?? [] }
    }

    static func bytes(of path: String, _ option: String) throws -> [UInt8] {
        guard let bytes = FileManager.default.contents(atPath: path), !bytes.isEmpty else {
            throw ValidationError("\(option): \(path) cannot be read, or is empty")
        }
        return Array(bytes)
    }

    /// `signetd rotate log-key`
    struct LogKey: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "log-key", abstract: "Give the log another key.",
            discussion: """
                First run it with --announce: it makes the key and prints it, and nothing else. Give that to whoever \
                runs the witnesses (`signetd witness add-log`), then run it without.
                """)

        @OptionGroup var data: DataOption
        @OptionGroup var roots: RootsOption

        @Flag(help: "Only make the next key and print it.")
        var announce = false

        func run() async throws {
            let rotation = KeyRotation(
                DataDirectory(path: data.data), witnessRoots: try roots.read(), logger: Diagnostics.logger(.error))
            do {
                if announce {
                    print(String(decoding: try rotation.announceLogKey().encoded, as: UTF8.self))
                } else {
                    _ = try await rotation.rotateLogKey()
                    print("the log has its new key; for new clients: \(DataDirectory(path: data.data).profile)")
                }
            } catch { throw Diagnostics.exit(error) }
        }
    }

    /// `signetd rotate witnesses`
    struct Witnesses: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Demand other witnesses: lines of a C2SP tlog-policy, as for init.")

        @OptionGroup var data: DataOption
        @OptionGroup var roots: RootsOption

        @Argument(help: "Witnesses, groups and the quorum.")
        var file: String

        func run() async throws {
            let rotation = KeyRotation(
                DataDirectory(path: data.data), witnessRoots: try roots.read(), logger: Diagnostics.logger(.error))
            let lines = try Rotate.bytes(of: file, "the file")
            do { _ = try await rotation.changeWitnesses(to: lines) } catch { throw Diagnostics.exit(error) }
            print("other witnesses are demanded from now on; for new clients: \(DataDirectory(path: data.data).profile)")
        }
    }
}
