// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A log whose key stays in a token: with SoftHSM, and with a module of PKCS #11 that does wrong.
@Suite(.serialized, .timeLimit(.minutes(10))) struct TokenTests {
    private static let missing: Comment = "SoftHSM is not installed: apt-get install softhsm2"

    /// Starts a server that must refuse, and checks that it wrote nothing.
    private func refused(_ town: Town, _ token: SoftToken, _ sentence: String) async throws {
        let before = try town.contents("server")
        let exit = try await token.signetd("run", "--data", "server", "--bind", "127.0.0.1:0")
        expect(65, exit)
        #expect(exit.complaint.contains(sentence), "\(exit.errors)")
        #expect(try town.contents("server") == before, "a server that refuses to run writes nothing")
    }

    @Test(.enabled(if: SoftToken.isPresent, missing))
    func aNewLogHasItsKeyInAToken() async throws {
        try await Town.with { town in
            let token = try await SoftToken.make("token", in: town)
            expect(
                0,
                try await token.signetd(
                    "init", "--data", "new", "--origin", "example.org/new", "--url", "https://localhost:1",
                    "--log-key-pkcs11", try token.address))
            let file = String(decoding: try town.bytes("new/keys/log.key"), as: UTF8.self)
            #expect(file.hasPrefix("signet-log-token/v1\nexample.org/new+"), "no key is in the file")
            #expect(!file.contains("4321"))
            expect(0, try await token.signetd("check", "--data", "new"))
            try town.write(town.bytes("new/keys/log.key"), to: "server/keys/log.key")
            try await refused(town, token, "keys/log.key is not a key of this kind")
        }
    }

    @Test(.enabled(if: SoftToken.isPresent, missing))
    func clientsFollowARotationIntoAToken_andCheckNeedsNone() async throws {
        try await Town.with { town in
            let token = try await SoftToken.make("token", in: town)
            try await token.takeOver()
            #expect(try town.bytes("server/keys/log.key").starts(with: "signet-log-token/v1\n".utf8))
            #expect(!town.exists("server/keys/log.key.next"), "the key of before is gone")
            let server = try await token.start()
            expect(0, try await town.signet("alice", "directory", "update"))
            expect(0, try await town.signet("alice", "lookup", Town.bob))
            expect(0, try await town.signetd("backup", "--data", "server", "--to", "backup"))
            try await server.stop()
            expect(0, try await town.signetd("check", "--data", "backup"), "without the token")
            expect(0, try await town.signetd("check", "--data", "server"), "without the token")
        }
    }

    @Test(.enabled(if: SoftToken.isPresent, missing))
    func aTokenThatCannotBeUsedIsNamed() async throws {
        try await Town.with { town in
            let token = try await SoftToken.make("token", in: town)
            try await token.takeOver()
            let other = try await SoftToken.make("other", in: town)
            try await refused(town, other, "not the one that this log has")
            try await refused(town, try SoftToken.none("none", in: town), "has no token with this label")
            try town.write("9999\n".utf8, to: "token.pin")
            try await refused(town, token, "refuses the PIN")
            try town.write("4321\n".utf8, to: "token.pin")
            try town.chmod("token.pin", 0o640)
            try await refused(town, token, "chmod 600")
            try FileManager.default.removeItem(at: town["token.pin"])
            try await refused(town, token, "pin-source: No such file")
            try town.write("4321\n".utf8, to: "token.pin")
            try town.edit("server/keys/log.key") { $0.replacing("object=log-key", with: "object=other-key") }
            try await refused(town, token, "has no key pair with this label")
            try town.edit("server/keys/log.key") { $0.replacing("object=other-key", with: "object=log-key") }
            let server = try await token.start()
            try await server.stop()
        }
    }

    /// The token is taken away while the server runs: it stops, has published nothing that is not signed, and goes on with the token.
    @Test(.enabled(if: SoftToken.isPresent, missing))
    func aTokenThatIsGoneStopsTheLog_andARestartGoesOn() async throws {
        try await Town.with { town in
            let token = try await SoftToken.make("token", in: town)
            try await token.takeOver()
            let server = try await token.start()
            expect(0, try await town.signet("alice", "directory", "update"))
            try FileManager.default.moveItem(at: town["token"], to: town["away"])
            // It signs every second; nobody tells it to stop.
            let end = try await server.stop(0)
            expect(74, end)
            #expect(end.errors.contains("the token does not sign for the log"), "\(end.errors)")
            expect(0, try await town.signetd("check", "--data", "server"))
            try await refused(town, token, "in a token")
            try FileManager.default.moveItem(at: town["away"], to: town["token"])
            let again = try await token.start()
            expect(0, try await town.signet("alice", "log", "verify"))
            expect(0, try await town.signet("alice", "lookup", Town.bob))
            try await again.stop()
        }
    }

    @Test func aTokenIsOnlyForTheKeyThatIsAnnounced() async throws {
        try await Town.with { town in
            let address = "pkcs11:token=t;object=o?module-path=/m&pin-source=file:/p"
            expect(64, try await town.signetd("rotate", "log-key", "--data", "server", "--pkcs11", address))
            let exit = try await town.signetd(
                "rotate", "log-key", "--data", "server", "--announce", "--pkcs11", address)
            expect(65, exit)
            #expect(exit.complaint.contains("module-path cannot be loaded"), "\(exit.errors)")
            #expect(!town.exists("server/keys/log.key.next"))

            let announced = try await town.signetd("rotate", "log-key", "--data", "server", "--announce")
            expect(0, announced)
            let other = try await town.signetd(
                "rotate", "log-key", "--data", "server", "--announce", "--pkcs11", address)
            expect(73, other)
            #expect(other.complaint.contains("add --anew"), "\(other.errors)")
            expect(64, try await town.signetd("rotate", "log-key", "--data", "server", "--anew"))
            let anew = try await town.signetd("rotate", "log-key", "--data", "server", "--announce", "--anew")
            expect(0, anew)
            let (first, second) = (try #require(announced.lines.first), try #require(anew.lines.first))
            #expect(first != second && anew.lines.count == 1)
            #expect(anew.errors.contains("discarded: \(first)\n"), "\(anew.errors)")
        }
    }

    /// It is not the server that has to be stopped.
    @Test func besideAChangeOfTheLogsKeyAnotherOneIsToldToWait() async throws {
        try await Town.with { town in
            let folder = open(town["server/keys"].path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            defer { close(folder) }
            try #require(folder >= 0 && flock(folder, LOCK_EX | LOCK_NB) == 0)
            for options in [["--announce", "--anew"], []] {
                let exit = try await Program.signetd.run(
                    ["rotate", "log-key", "--data", "server"] + options, in: town.folder)
                expect(75, exit)
                #expect(exit.complaint == "`rotate log-key` is under way: wait until it has ended", "\(exit.errors)")
            }
            #expect(!town.exists("server/keys/log.key.next"))
        }
    }

    // MARK: a module that does wrong

    /// A log begins only if its first checkpoint is signed, by the key that the token states.
    @Test func aTokenThatSignsWronglyBeginsNoLog() async throws {
        try await Town.with { town in
            try await WrongModule.build(in: town)
            let exit = try await WrongModule.begin(town)
            #expect(exit.status != 0, "\(exit.output)")
            #expect(!town.exists("new"))
        }
    }

    @Test func aWrongPINIsTriedOnce() async throws {
        try await Town.with { town in
            try await WrongModule.build(in: town)
            let exit = try await WrongModule.begin(town, ["WRONG_LOGIN": "160"])
            expect(73, exit)
            #expect(exit.complaint.contains("tried once"), "\(exit.errors)")
            #expect(try town.bytes("logins") == Array("4321\n".utf8))
        }
    }

    @Test(arguments: ["131072", "262144"])
    func noPINIsTriedIfTheNextOneWouldLockTheToken(_ flags: String) async throws {
        try await Town.with { town in
            try await WrongModule.build(in: town)
            let exit = try await WrongModule.begin(town, ["WRONG_FLAGS": flags])
            expect(73, exit)
            #expect(exit.complaint.contains("Nothing was tried"), "\(exit.errors)")
            #expect(!town.exists("logins"))
        }
    }
}

/// A module of PKCS #11 that counts logins and signs with zeros.
enum WrongModule {
    static func build(in town: Town) async throws {
        let header = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Sources/Support/CPKCS11")
        try town.write(source.utf8, to: "module.c")
        let exit = try await Exit.of(
            URL(filePath: "/usr/bin/gcc"),
            ["-shared", "-fPIC", "-I", header.path(), "-o", "module.so", "module.c"], in: town.folder)
        try #require(exit.status == 0, "\(exit.errors)")
        try town.write("4321\n".utf8, to: "pin")
        try town.chmod("pin", 0o600)
    }

    static func begin(_ town: Town, _ environment: [String: String] = [:]) async throws -> Exit {
        let folder = town.folder.path()
        let address = "pkcs11:token=wrong;object=key?module-path=\(folder)/module.so&pin-source=file:\(folder)/pin"
        return try await Program.signetd.run(
            [
                "init", "--data", "new", "--origin", "example.org/new", "--url", "https://localhost:1",
                "--log-key-pkcs11", address,
            ],
            in: town.folder, environment: environment.merging(["LOGINS": "\(folder)/logins"]) { one, _ in one })
    }

    private static let source = """
        #include <fcntl.h>
        #include <stdlib.h>
        #include <string.h>
        #include <unistd.h>
        #include "pkcs11.h"

        static CK_ULONG number(const char *name) { const char *text = getenv(name); return text ? strtoul(text, 0, 10) : 0; }
        static CK_ULONG initialize(void *arguments) { return CKR_OK; }
        static CK_ULONG slots(CK_BYTE with, CK_ULONG *list, CK_ULONG *count) { if (list) *list = 7; *count = 1; return CKR_OK; }
        static CK_ULONG token(CK_ULONG slot, CK_TOKEN_INFO *info) {
            memset(info, 0, sizeof *info);
            memset(info->label, ' ', 32);
            memcpy(info->label, "wrong", 5);
            info->flags = number("WRONG_FLAGS");
            return CKR_OK;
        }
        static CK_ULONG begin(CK_ULONG slot, CK_ULONG flags, void *a, void *b, CK_ULONG *session) { *session = 1; return CKR_OK; }
        static CK_ULONG end(CK_ULONG session) { return CKR_OK; }
        static CK_ULONG login(CK_ULONG session, CK_ULONG user, CK_BYTE *pin, CK_ULONG length) {
            int file = open(getenv("LOGINS"), O_WRONLY | O_CREAT | O_APPEND, 0600);
            if (write(file, pin, length) < 0 || write(file, "\\n", 1) < 0) abort();
            close(file);
            return number("WRONG_LOGIN");
        }
        static CK_ULONG find(CK_ULONG session, CK_ATTRIBUTE *attributes, CK_ULONG count) { return CKR_OK; }
        static CK_ULONG found(CK_ULONG session, CK_ULONG *objects, CK_ULONG maximum, CK_ULONG *count) { *objects = 3; *count = 1; return CKR_OK; }
        /* The public key of RFC 8032, section 7.1, test 1. */
        static const unsigned char point[32] = {
            0xd7, 0x5a, 0x98, 0x01, 0x82, 0xb1, 0x0a, 0xb7, 0xd5, 0x4b, 0xfe, 0xd3, 0xc9, 0x64, 0x07, 0x3a,
            0x0e, 0xe1, 0x72, 0xf3, 0xda, 0xa6, 0x23, 0x25, 0xaf, 0x02, 0x1a, 0x68, 0xf7, 0x07, 0x51, 0x1a};
        static CK_ULONG attribute(CK_ULONG session, CK_ULONG object, CK_ATTRIBUTE *asked, CK_ULONG count) {
            memcpy(asked->value, point, 32);
            asked->length = 32;
            return CKR_OK;
        }
        static CK_ULONG prepare(CK_ULONG session, CK_MECHANISM *mechanism, CK_ULONG key) { return CKR_OK; }
        static CK_ULONG sign(CK_ULONG session, CK_BYTE *data, CK_ULONG length, CK_BYTE *signature, CK_ULONG *count) {
            memset(signature, 0, 64);
            *count = 64;
            return CKR_OK;
        }
        static CK_FUNCTION_LIST list = {
            .C_Initialize = initialize, .C_GetSlotList = slots, .C_GetTokenInfo = token, .C_OpenSession = begin, .C_CloseSession = end,
            .C_Login = login, .C_GetAttributeValue = attribute, .C_FindObjectsInit = find, .C_FindObjects = found, .C_FindObjectsFinal = end,
            .C_SignInit = prepare, .C_Sign = sign};
        CK_ULONG C_GetFunctionList(CK_FUNCTION_LIST **given) { *given = &list; return CKR_OK; }
        """
}
