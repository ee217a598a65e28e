// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Runs a test in a new folder, which is removed afterwards.
func withTemporaryFolder<Value>(
    _ body: (String) async throws -> Value, isolation: isolated (any Actor)? = #isolation
) async throws -> Value {
    let path = NSTemporaryDirectory() + "signet-client-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try await body(path)
}

func permissions(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
}
