// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import Signet
import SignetAPI
import TransparencyLog

/// Reads whom to believe.
enum PolicyFile {
    static func read(_ path: String) throws -> Policy {
        let bytes = try InputFile.read(path, maximumByteCount: Policy.maximumByteCount)
        do { return try Policy(decoding: bytes) } catch { throw CommandFailure(.badFile, error.sentence(path)) }
    }
}

/// What a directory file says about its log.
struct DirectoryProfileAndPolicy {
    let policy: Policy
    let logURL: String
    let profile: DirectoryProfile

    init(path: String) throws {
        do { profile = try HomeFolder.profile(in: DurableFile(path: path)) } catch {
            throw CommandFailure(error, path: path)
        }
        policy = profile.trust.policy
        logURL = profile.url + Route.logPrefix
    }
}
