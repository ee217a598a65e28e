// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyTransparency
import Signet
import SocialRecovery

/// The options about the guardians to choose.
struct GuardianChoice: ParsableArguments {
    @Argument(help: "Their handles; choose people whom you added and accepted.") var handles: [String]
    @Option(help: ArgumentHelp("How many of them are needed to recover your identity.", valueName: "n"))
    var needed: Int = 3
    @Option(
        help: "How long your other devices can stop a recovery: 2d, 36h, 90m; friends cannot check 75m or less.")
    var wait = Wait(seconds: RecoveryCommitment.standardDelay)
    @Option(
        help: ArgumentHelp(
            "Go on only if you met them and compared keys, by 'signet people verify'; may be repeated.",
            valueName: "handle"))
    var met: [String] = []
    @Option(
        help: ArgumentHelp(
            "Go on only if you compared keys with them, by 'signet people verify'; may be repeated.",
            valueName: "handle"))
    var compared: [String] = []

    /// Whom. The flags demand what this device keeps of a comparison with them, and make nothing of it.
    func guardians(_ session: Session) async throws -> [Handle] {
        let (met, compared) = (Set(try met.map(Handle.typed)), Set(try compared.map(Handle.typed)))
        let guardians = try handles.map(Handle.typed)
        for handle in guardians {
            let meeting: MeetingEvidence
            do { meeting = try await session.open.meeting(with: handle) } catch {
                throw CommandFailure(error, session: session)
            }
            guard !met.contains(handle) || meeting.kind == .person else {
                throw Self.unproven(handle, "met", " --met DAY")
            }
            guard !compared.contains(handle) || meeting.kind != .none else {
                throw Self.unproven(handle, "compared", "")
            }
        }
        return guardians
    }

    private static func unproven(_ handle: Handle, _ what: String, _ option: String) -> CommandFailure {
        CommandFailure(
            .usage, "This device has no record that you \(what) \(what == "met" ? "" : "keys with ")\(handle).",
            "Compare keys with them first: signet people verify \(handle)\(option). No one was asked.")
    }
}
