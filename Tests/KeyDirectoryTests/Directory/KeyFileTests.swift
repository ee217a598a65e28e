// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Foundation
import Testing
import TransparencyLog
import VRF

@testable import KeyDirectory

@Suite struct KeyFileTests {
    let place: Place
    let folder: String
    let origin: KeyName

    init() throws {
        place = try Place()
        folder = place.path
        origin = try KeyName(Array(Place.origin.utf8))
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    private func refusal() -> KeyFileError? {
        do throws(KeyFileError) {
            _ = try DirectoryKeys.read(from: folder, origin: origin)
            return nil
        } catch { return error }
    }

    private func path(_ file: KeyFile) -> String { "\(folder)/\(file.name)" }

    @Test func createdKeysAreReadBack() throws {
        let made = try DirectoryKeys.create(in: folder, origin: origin)
        let read = try DirectoryKeys.read(from: folder, origin: origin)
        #expect(made.log.verifierKey == read.log.verifierKey)
        #expect(made.cosigners.map(\.verifierKey) == read.cosigners.map(\.verifierKey))
        #expect(made.vrf.publicKey == read.vrf.publicKey)
        #expect(read.log.verifierKey.algorithm == .ed25519)
        #expect(read.cosigners.map(\.verifierKey.algorithm) == [.cosignatureV1])
        #expect(read.cosigners.map(\.verifierKey.name.bytes) == [Array("directory.example/log/clock".utf8)])
    }

    @Test(arguments: KeyFile.allCases) func create_letsOnlyTheOwnerReadAKeyFile(file: KeyFile) throws {
        _ = try DirectoryKeys.create(in: folder, origin: origin)
        let mode = try FileManager.default.attributesOfItem(atPath: path(file))[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func create_drawsOtherKeysForEachDirectory() throws {
        let one = try DirectoryKeys.create(in: folder, origin: origin)
        for file in KeyFile.allCases { try FileManager.default.removeItem(atPath: path(file)) }
        let other = try DirectoryKeys.create(in: folder, origin: origin)
        #expect(one.log.verifierKey != other.log.verifierKey)
        #expect(one.vrf.publicKey != other.vrf.publicKey)
    }

    @Test(arguments: KeyFile.allCases) func create_doesNotReplaceAKeyFile(file: KeyFile) throws {
        try Data("precious".utf8).write(to: URL(filePath: path(file)))
        #expect(throws: KeyFileError.exists(file)) { try DirectoryKeys.create(in: folder, origin: origin) }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        #expect(names == [file.name])
    }

    /// Versions before this one left it when the disk was full, and a key that was being written when the process was killed.
    @Test func whatAFullDiskHasLeftDoesNotKeepTheNextKeyFromBeingMade() throws {
        FileManager.default.createFile(
            atPath: path(.nextLog), contents: Data(), attributes: [.posixPermissions: 0o600])
        try Data("half".utf8).write(to: URL(filePath: path(.nextLog) + ".new"))
        let key = try DirectoryKeys.nextLogKey(in: folder, origin: origin).verifierKey
        #expect(try DirectoryKeys.nextLogKey(in: folder, origin: origin).verifierKey == key)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [KeyFile.nextLog.name])
        let mode = try FileManager.default.attributesOfItem(atPath: path(.nextLog))[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    /// It may be a key of which a disk has lost a part: with another one in its place, nobody would look for the copy.
    @Test func aFileWithAnythingInItIsNotReplacedByTheNextKey() throws {
        try Data("s".utf8).write(to: URL(filePath: path(.nextLog)))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path(.nextLog))
        #expect(throws: KeyFileError.malformed(.nextLog)) { try DirectoryKeys.nextLogKey(in: folder, origin: origin) }
        #expect(FileManager.default.contents(atPath: path(.nextLog)) == Data("s".utf8))
    }

    /// Otherwise the log would get the key in the file, and whoever announced the token's would not be told.
    @Test func anAnnouncedKeyIsNotTakenForThatOfAToken() throws {
        let key = try DirectoryKeys.nextLogKey(in: folder, origin: origin).verifierKey
        let token = try TokenAddress(
            decoding: Array("pkcs11:token=t;object=o?module-path=/m&pin-source=file:/p".utf8))
        #expect(throws: KeyFileError.exists(.nextLog)) {
            try DirectoryKeys.nextLogKey(in: folder, origin: origin, token: token)
        }
        #expect(try DirectoryKeys.nextLogKey(in: folder, origin: origin).verifierKey == key)
    }

    /// It may be the only key with which the log can go on.
    @Test func aNextKeyThatNoTokenCanReplaceStays() throws {
        let key = try DirectoryKeys.nextLogKey(in: folder, origin: origin).verifierKey
        let token = try TokenAddress(
            decoding: Array("pkcs11:token=t;object=o?module-path=/m&pin-source=file:/p".utf8))
        #expect(throws: KeyFileError.self) {
            try DirectoryKeys.replaceNextLogKey(in: folder, origin: origin, token: token)
        }
        #expect(try DirectoryKeys.nextLogKey(in: folder, origin: origin).verifierKey == key)
    }

    @Test(arguments: [0o640, 0o604, 0o660, 0o700]) func read_refusesAFileThatOthersCanUse(mode: Int) throws {
        _ = try DirectoryKeys.create(in: folder, origin: origin)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path(.vrf))
        #expect(refusal() == .wrongMode(.vrf, mode: UInt16(mode)))
    }

    @Test(arguments: KeyFile.allCases) func read_refusesAMissingFile(file: KeyFile) throws {
        _ = try DirectoryKeys.create(in: folder, origin: origin)
        try FileManager.default.removeItem(atPath: path(file))
        #expect(refusal() == .missing(file))
    }

    @Test func read_refusesASymbolicLink() throws {
        _ = try DirectoryKeys.create(in: folder, origin: origin)
        try FileManager.default.moveItem(atPath: path(.log), toPath: path(.log) + ".elsewhere")
        try FileManager.default.createSymbolicLink(
            atPath: path(.log), withDestinationPath: path(.log) + ".elsewhere")
        #expect(refusal() == .notAFile(.log))
    }

    @Test func read_refusesAFolder() throws {
        _ = try DirectoryKeys.create(in: folder, origin: origin)
        try FileManager.default.removeItem(atPath: path(.log))
        try FileManager.default.createDirectory(
            atPath: path(.log), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o600])
        #expect(refusal() == .notAFile(.log))
    }

    @Test func read_refusesTheKeyFileOfAnotherKey() throws {
        _ = try DirectoryKeys.create(in: folder, origin: origin)
        try FileManager.default.removeItem(atPath: path(.clock))
        try FileManager.default.copyItem(atPath: path(.log), toPath: path(.clock))
        #expect(refusal() == .malformed(.clock))
    }

    @Test(arguments: [
        "signet-log-key/v1\n", "signet-log-key/v1\nAA==\n",
        "signet-log-key/v1\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        "signet-log-key/v1\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n\n",
        "signet-log-key/v1\r\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n",
    ]) func read_refusesAKeyFileOfAnotherForm(contents: String) throws {
        _ = try DirectoryKeys.create(in: folder, origin: origin)
        try Data(contents.utf8).write(to: URL(filePath: path(.log)))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path(.log))
        #expect(refusal() == .malformed(.log))
    }

    @Test func read_refusesAVRFKeyOfZero() throws {
        _ = try DirectoryKeys.create(in: folder, origin: origin)
        let zero = "signet-vrf-key/v1\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"
        try Data(zero.utf8).write(to: URL(filePath: path(.vrf)))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path(.vrf))
        #expect(refusal() == .refused(.vrf))
    }
}
