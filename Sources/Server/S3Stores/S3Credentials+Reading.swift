// SPDX-License-Identifier: Apache-2.0

import Platform
package import S3Requests

extension S3Credentials {
    /// Reads them from the environment: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, and `AWS_SESSION_TOKEN` if there is one.
    ///
    /// - Throws: ``S3ConfigurationError/credentials``.
    package init(environment: [String: String]) throws(S3ConfigurationError) {
        try self.init(names: environment.reduce(into: [:]) { $0[$1.key.lowercased()] = $1.value })
    }

    /// Reads them from a file that only its owner can read: the lines `aws_access_key_id = …`, `aws_secret_access_key = …`, and
    /// `aws_session_token = …` if there is one. Lines that begin with `#` or `[` are passed over.
    ///
    /// - Throws: ``S3ConfigurationError/credentials``, ``S3ConfigurationError/credentialsOpenToOthers``.
    package init(file path: String) throws(S3ConfigurationError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .credentials }
        defer { close(descriptor) }
        guard let status = FileStatus(of: descriptor), status.isFile, status.byteCount <= 16_384 else {
            throw .credentials
        }
        guard !status.isOpenToOthers else { throw .credentialsOpenToOthers }
        var buffer = [UInt8](repeating: 0, count: Int(status.byteCount))
        guard pread(descriptor, &buffer, buffer.count, 0) == buffer.count else { throw .credentials }
        try self.init(lines: String(decoding: buffer, as: UTF8.self))
    }

    private init(lines: String) throws(S3ConfigurationError) {
        var names: [String: String] = [:]
        for line in lines.split(whereSeparator: \.isNewline) where line.first != "#" && line.first != "[" {
            let parts = line.split(separator: "=", maxSplits: 1).map { $0.filter { $0 != " " && $0 != "\t" } }
            guard parts.count == 2, names.updateValue(parts[1], forKey: parts[0]) == nil else { throw .credentials }
        }
        try self.init(names: names)
    }

    private init(names: [String: String]) throws(S3ConfigurationError) {
        guard let key = names["aws_access_key_id"], let secret = names["aws_secret_access_key"],
            let credentials = S3Credentials(
                accessKey: key, secret: secret, sessionToken: names["aws_session_token"])
        else { throw .credentials }
        self = credentials
    }
}

/// The system's time, in seconds since 1970-01-01T00:00:00Z.
@Sendable package func systemSeconds() -> UInt64 { UInt64(max(0, seconds(of: CLOCK_REALTIME) ?? 0)) }
