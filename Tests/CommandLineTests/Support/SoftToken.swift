// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A token of SoftHSM in a folder of a test, with one Ed25519 key.
struct SoftToken {
    static let module = ["/usr/lib/softhsm/libsofthsm2.so", "/usr/lib64/pkcs11/libsofthsm2.so"].first {
        FileManager.default.fileExists(atPath: $0)
    }
    static var isPresent: Bool { module != nil && tool != nil }
    private static let tool = ["/usr/bin", "/bin", "/usr/local/bin"].map { "\($0)/softhsm2-util" }.first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    let town: Town
    let name: String

    var environment: [String: String] { ["SOFTHSM2_CONF": town["\(name).conf"].path()] }
    /// The option's value.
    var address: String {
        get throws {
            "pkcs11:token=log%20token;object=log-key?module-path=\(try #require(Self.module))"
                + "&pin-source=file:\(town["token.pin"].path())"
        }
    }

    /// A folder in which there is no token.
    static func none(_ name: String, in town: Town) throws -> SoftToken {
        try FileManager.default.createDirectory(at: town[name], withIntermediateDirectories: false)
        try town.write("directories.tokendir = \(town[name].path())\nlog.level = ERROR\n".utf8, to: "\(name).conf")
        return SoftToken(town: town, name: name)
    }

    /// Makes a token with a new key in it, and the PIN beside it.
    static func make(_ name: String, in town: Town) async throws -> SoftToken {
        let token = try none(name, in: town)
        try town.write("4321\n".utf8, to: "token.pin")
        try town.chmod("token.pin", 0o600)
        let tool = try #require(tool)
        for (program, arguments) in [
            (tool, ["--init-token", "--free", "--label", "log token", "--so-pin", "12345678", "--pin", "4321"]),
            ("/usr/bin/openssl", ["genpkey", "-algorithm", "ed25519", "-out", "\(name).pem"]),
            (
                tool,
                [
                    "--import", "\(name).pem", "--token", "log token", "--label", "log-key", "--id", "01", "--pin",
                    "4321",
                ]
            ),
        ] {
            let exit = try await Exit.of(
                URL(filePath: program), arguments, in: town.folder, environment: token.environment)
            try #require(exit.status == 0, "\(exit.output)\(exit.errors)")
        }
        return token
    }

    func signetd(_ arguments: String...) async throws -> Exit {
        try await Program.signetd.run(arguments, in: town.folder, environment: environment)
    }

    /// Gives the log of the town's server this key.
    func takeOver() async throws {
        expect(0, try await signetd("rotate", "log-key", "--data", "server", "--announce", "--pkcs11", try address))
        expect(0, try await signetd("rotate", "log-key", "--data", "server"))
    }

    func start() async throws -> RunningServer {
        let server = try await RunningServer.start(
            .signetd,
            [
                "run", "--data", "server", "--bind", "127.0.0.1:0", "--rate", "0", "--account-rate", "0", "--epoch",
                "0",
                "--republish", "1",
            ],
            in: town.folder, environment: environment)
        try town.point(to: server.port)
        return server
    }
}
