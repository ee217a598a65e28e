// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import Testing
import TransparencyLog

@testable import SignetServer

@Suite("What an operator is warned of when a process starts that shares a directory")
struct SharedStartRemarksTests {
    private static let log = "log example.org/signet+1d3d4389+AeCof+EEMHndyTXjN78vGOuAP+Q/8id53ujHZLUhTyQ4\n"
    private static let witness =
        "witness clock example.org/signet/clock+517a6235+BCyApZQLeIKJzbKHRyFiuXaRa4q3MvyNnmb8I00ZFWCs"

    private func policy(_ address: String = "") throws -> Policy {
        try Policy(decoding: Array((Self.log + Self.witness + address + "\nquorum clock\n").utf8))
    }

    private func with(_ body: (DataDirectory) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(component: "signet-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try body(DataDirectory(path: folder.path()))
    }

    private func put(_ name: String, in folder: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data([1]).write(to: URL(filePath: folder + "/" + name))
    }

    @Test func aSequencerThatNothingOutsideCanWarnSaysSo() throws {
        let remark = "Older copies of both would not be noticed"
        try with { data in
            let bare = SharedStartRemarks.of(data, try policy(), sequences: true)
            #expect(bare.count == 1 && bare[0].contains(remark), "\(bare)")
            let witnessed = try policy(" https://witness.example.org/")
            #expect(SharedStartRemarks.of(data, witnessed, sequences: true).isEmpty)
            try put("frames", in: data.state)
            #expect(SharedStartRemarks.of(data, try policy(), sequences: true).isEmpty)
        }
    }

    @Test func aFrontEndThatHasTheLogsKeySaysSo() throws {
        try with { data in
            #expect(SharedStartRemarks.of(data, try policy(), sequences: false).isEmpty)
            try put("log.key", in: data.keys)
            let found = SharedStartRemarks.of(data, try policy(), sequences: false)
            #expect(found.count == 1 && found[0].contains("keys/log.key"), "\(found)")
            try put("frames", in: data.state)
            #expect(SharedStartRemarks.of(data, try policy(), sequences: true).isEmpty, "it signs with the key")
        }
    }
}
