// SPDX-License-Identifier: Apache-2.0

import Logging
import ServiceLifecycle
import Synchronization

/// Says in the program's log, for as long as the server runs, which of its files were lost under it, and when they are back: who reads nothing
/// else would start the server again, which loses what the lost files hold.
final class LostFileWatch: Service {
    private static let pause: Duration = .seconds(5)

    private let look: @Sendable () async -> [Readiness.Fault]
    private let logger: Logger
    private let found = Mutex<Set<LostFile>>([])

    /// - Parameter look: what is wrong with the files now; other faults than those have no lines here.
    init(logger: Logger, looking look: @escaping @Sendable () async -> [Readiness.Fault]) {
        self.look = look
        self.logger = logger
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await self.compare()
                try? await Task.sleep(for: Self.pause)
            }
        }
    }

    /// Looks once.
    func compare() async {
        let now = Set(await look().flatMap(\.lostFiles))
        // What a server that is about to end closes is not lost.
        guard !Task.isCancelled else { return }
        let before = found.withLock { found in
            defer { found = now }
            return found
        }
        for kind in LostFile.Kind.allCases {
            let lost = now.subtracting(before).names(of: kind)
            if !lost.isEmpty { logger.critical("\(kind.sentence)", metadata: ["files": "\(lost)"]) }
        }
        let back = before.subtracting(now)
        guard !back.isEmpty else { return }
        let names = back.map(\.name).sorted().joined(separator: ", ")
        logger.notice(
            "files that were lost under the running server are in their places again", metadata: ["files": "\(names)"])
    }
}

/// A file that was lost under the running server.
private struct LostFile: Hashable {
    /// What it was to the server, and so what may be done now.
    enum Kind: CaseIterable {
        case open, besideDatabase, read

        var sentence: String {
            switch self {
            case .open:
                "files were removed or replaced under the running server, which has them open: do not stop the server, see disasters.md"
            case .besideDatabase:
                "what SQLite keeps beside a database was removed or replaced under the running server: do not kill the server, and copy nothing over it; see disasters.md"
            case .read:
                "files that the next start needs were removed under the running server: do not stop the server before they are back, see disasters.md"
            }
        }
    }

    let name: String
    let kind: Kind
}

extension Readiness.Fault {
    fileprivate var lostFiles: [LostFile] {
        switch self {
        case .filesLost(let names):
            names.map { LostFile(name: $0, kind: Self.isBesideDatabase($0) ? .besideDatabase : .open) }
        case .filesMissing(let names): names.map { LostFile(name: $0, kind: .read) }
        default: []
        }
    }
}

extension Set<LostFile> {
    fileprivate func names(of kind: LostFile.Kind) -> String {
        filter { $0.kind == kind }.map(\.name).sorted().joined(separator: ", ")
    }
}
