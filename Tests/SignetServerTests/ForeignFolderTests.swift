// SPDX-License-Identifier: Apache-2.0

import Foundation
import Platform
import Testing

@testable import SignetServer

/// Root is led away by whoever can put a link in the place of a folder in which it writes.
@Suite(.enabled(if: geteuid() == 0)) struct ForeignFolderTests {
    private static let nobody = NSNumber(value: 65_534)

    /// Runs `body` with a folder of root's, in which `theirs` belongs to another user.
    private func withFolder(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(component: "signet-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try make(folder.path() + "/theirs/ours", 0o700)
        try FileManager.default.setAttributes(
            [.ownerAccountID: Self.nobody], ofItemAtPath: folder.path() + "/theirs")
        try body(folder.path())
    }

    private func make(_ path: String, _ mode: Int) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    private func found(on path: String) -> String? {
        do throws(ForeignFolder) {
            try ForeignFolder.requireNone(onTheWayTo: [path])
            return nil
        } catch { return error.path }
    }

    @Test func aFolderOfAnotherUserIsNamed_whereverItIsOnTheWay() throws {
        try withFolder { folder in
            for end in ["theirs", "theirs/new", "theirs/ours", "theirs/ours/new", "theirs/../new"] {
                #expect(found(on: "\(folder)/\(end)") == "\(folder)/theirs", "\(end)")
            }
            #expect(found(on: folder) == nil)
            #expect(found(on: "\(folder)/new") == nil)
        }
    }

    @Test func aLinkIsFollowed_andOneOfAnotherUserIsNot() throws {
        try withFolder { folder in
            let files = FileManager.default
            try make(folder + "/own", 0o700)
            try files.createSymbolicLink(atPath: folder + "/there", withDestinationPath: "theirs/ours")
            try files.createSymbolicLink(atPath: folder + "/here", withDestinationPath: folder + "/own")
            try files.createSymbolicLink(atPath: folder + "/theirs/back", withDestinationPath: folder + "/own")
            try files.createSymbolicLink(atPath: folder + "/through", withDestinationPath: "theirs/back")
            try files.createSymbolicLink(atPath: folder + "/round", withDestinationPath: "round")
            #expect(found(on: folder + "/there/new") == folder + "/theirs")
            #expect(found(on: folder + "/through/new") == folder + "/theirs", "they can lead it elsewhere")
            #expect(found(on: folder + "/here/new") == nil)
            #expect(found(on: folder + "/round/new") == folder + "/round")
            #expect(lchown(folder + "/here", 65_534, .max) == 0)
            #expect(found(on: folder + "/here/new") == folder + "/here")
        }
    }

    @Test(arguments: [(0o775, true), (0o757, true), (0o755, false), (0o1777, false)])
    func whereOthersMayRenameTheyMayPutALink(mode: Int, isRefused: Bool) throws {
        try withFolder { folder in
            try make(folder + "/open", mode)
            #expect(found(on: folder + "/open/new") == (isRefused ? folder + "/open" : nil))
        }
    }
}
