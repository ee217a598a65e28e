// SPDX-License-Identifier: Apache-2.0

/// One of the directory's secret keys, each in a file of its own: 32 bytes, readable by the server's user alone.
///
/// A file has two lines: its format, such as `signet-log-key/v1`, and the base64 of the 32 bytes. The first line keeps
/// one key from being taken for another.
///
/// The file of a log's key may instead say where a token keeps it: `signet-log-token/v1`, the key in the form of a verifier key, and its
/// ``TokenAddress``. It then has no secret, and the PIN is in a file of its own.
public enum KeyFile: Hashable, Sendable, CaseIterable {
    /// The Ed25519 seed that signs the log's checkpoints.
    case log
    /// The Ed25519 seed of the server's own cosigner, which vouches for the time.
    case clock
    /// The seed that is to sign the log's checkpoints after the rotation that is under way.
    case nextLog
    /// The VRF scalar that turns handles into labels, little-endian.
    case vrf
    /// What several front ends of a directory share: the secret under which they seal now. A server alone needs none.
    case shared
    /// The same, that they seal under after the rotation that is under way, and accept already.
    case nextShared
    /// The same, that they sealed under before the last rotation.
    case formerShared
    /// By which the secret that was replaced because it was stolen is recognised. It opens nothing.
    case replacedShared

    /// The keys that every directory has.
    public static let allCases: [KeyFile] = [.log, .clock, .vrf]

    /// The file's name in the folder of keys.
    public var name: String {
        switch self {
        case .log: "log.key"
        case .nextLog: "log.key.next"
        case .clock: "clock.key"
        case .vrf: "vrf.key"
        case .shared: "shared-secret"
        case .nextShared: "shared-secret.next"
        case .formerShared: "shared-secret.before"
        case .replacedShared: "shared-secret.replaced"
        }
    }

    /// The first line, with its LF.
    var format: [UInt8] {
        switch self {
        case .log, .nextLog: Array("signet-log-key/v1\n".utf8)
        case .clock: Array("signet-clock-key/v1\n".utf8)
        case .vrf: Array("signet-vrf-key/v1\n".utf8)
        case .shared, .nextShared, .formerShared: Array("signet-shared-secret/v1\n".utf8)
        case .replacedShared: Array("signet-shared-secret-digest/v1\n".utf8)
        }
    }

    /// The first line of a log's key file that names a token, with its LF.
    static let tokenFormat = Array("signet-log-token/v1\n".utf8)
    /// More than any key file has, in bytes.
    static let maximumByteCount = 2048
    /// The length of every key, in bytes.
    static let secretByteCount = 32
    /// The length of the second line: base64 and LF.
    static let encodedByteCount = 45
}

/// Why a key file was not read or made. Nothing was overwritten.
public enum KeyFileError: Error, Hashable, Sendable {
    /// There is no such file: make the keys first, once.
    case missing(KeyFile)
    /// There is one already. Making keys never replaces any: the log and every label hang on them.
    case exists(KeyFile)
    /// Others than the owner may use the file; its permission bits. Correct them, and consider whether it was read.
    case wrongMode(KeyFile, mode: UInt16)
    /// The file belongs to another user than the one this process runs as.
    case wrongOwner(KeyFile)
    /// It is not a plain file, or a link to one.
    case notAFile(KeyFile)
    /// It does not have the two lines of a key file of this kind.
    case malformed(KeyFile)
    /// The bytes are not a key of this kind.
    case refused(KeyFile)
    /// The origin cannot be the name of a key.
    case invalidName
    /// The key is in a token, which cannot be used.
    case token(KeyFile, TokenError)
    /// A call to the operating system failed with this `errno`.
    case system(KeyFile, code: Int32)
}
