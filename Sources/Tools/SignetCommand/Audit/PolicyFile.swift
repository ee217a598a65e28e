// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import Signet
import SignetAPI
import TransparencyLog

/// Reads whom to believe.
enum PolicyFile {
    /// The policy in a file: a C2SP tlog-policy, or a directory file, which has one in it.
    static func read(_ path: String) throws -> Policy {
        let bytes = try InputFile.read(path, maximumByteCount: Policy.maximumFileByteCount)
        do { return try Policy(inFile: bytes) } catch { throw CommandFailure(.badFile, error.sentence(path)) }
    }

    /// The policy that a directory would have with other lines of witnesses, those that `signetd rotate witnesses` reads: they may name `clock`,
    /// which is the server's own.
    static func read(_ path: String, in directory: String) throws -> Policy {
        let kept = ["log ", "witness clock "].map { Array($0.utf8) }
        let lines = try read(directory).encoded.split(separator: UInt8(ascii: "\n"))
            .filter { line in kept.contains { line.starts(with: $0) } }
        let own = lines.flatMap { $0 + [UInt8(ascii: "\n")] }
        let bytes = try InputFile.read(path, maximumByteCount: Policy.maximumByteCount)
        do throws(PolicyError) { return try Policy(decoding: own + bytes) } catch {
            throw CommandFailure(.badFile, error.counted(after: lines.count).sentence(path))
        }
    }
}

/// What a directory file says about its log.
struct DirectoryProfileAndPolicy {
    let policy: Policy
    private let logURL: String
    let profile: DirectoryProfile

    init(path: String) throws {
        do { profile = try HomeFolder.profile(in: DurableFile(path: path)) } catch {
            throw CommandFailure(error, path: path)
        }
        policy = profile.trust.policy
        logURL = profile.url + Route.logPrefix
    }

    /// Where the log is: the directory's own for nil and for the address of the directory itself.
    func logURL(namedAs place: String?) -> String {
        guard let place, place != profile.url, place != profile.url + "/" else { return logURL }
        return place
    }
}
