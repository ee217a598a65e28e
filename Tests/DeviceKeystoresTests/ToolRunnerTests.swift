// SPDX-License-Identifier: Apache-2.0

import Foundation
import SecretMemory
import SignetClient
import Testing

@testable import DeviceKeystores

/// Programs of the system: the environment that they get, and the reading of their output.
@Suite struct ToolRunnerTests {
    @Test func longOutputAndLongComplaintsAreReadToTheirEnd() async throws {
        let script = "head -c 300000 /dev/zero | tr '\\0' x >&2; head -c 300000 /dev/zero; cat; exit 3"
        let outcome = try #require(
            ToolRunner.system().run("sh", ["-c", script], SecretBytes(copying: Array("in".utf8))))
        #expect(outcome.status == 3)
        #expect(outcome.output.count == 300_002)
        #expect(outcome.complaints.utf8.count == 300_000)
    }

    /// A TPM or a keyring that never answers must not block its caller.
    @Test func aToolIsKilledAtTheDeadline() throws {
        let outcome = try #require(ToolRunner.system(deadline: 0.1).run("sh", ["-c", "exec sleep 5"], nil))
        #expect(outcome.status == SIGKILL)
    }

    @Test func aToolGetsOnlyTheListedEnvironmentVariables() async throws {
        let outcome = try #require(ToolRunner.system(environment: ["GIVEN": "this"]).run("env", ["-0"], nil))
        let seen = outcome.output.split(separator: 0).map { String(decoding: $0.prefix { $0 != 0x3D }, as: UTF8.self) }
        #expect(seen.contains("PATH") && seen.contains("GIVEN"))
        let known: Set = [
            "PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "XDG_RUNTIME_DIR", "XDG_DATA_HOME", "DBUS_SESSION_BUS_ADDRESS",
            "DISPLAY", "WAYLAND_DISPLAY", "TPM2TOOLS_TCTI", "LD_LIBRARY_PATH", "GIVEN",
        ]
        #expect(Set(seen).subtracting(known) == [])
    }
}
