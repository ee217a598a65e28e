import ArgumentParser
import DeviceIdentity
import KeyTransparency
import RecoveryClient
import SignetClient
import SocialRecovery

extension Session {
    /// Runs a step with guardians and says what went wrong.
    func recovering<Value>(
        _ body: () async throws(RecoveryClientError) -> Value
    ) async throws -> Value {
        let turn = try await turn()
        defer { withExtendedLifetime(turn) {} }
        do throws(RecoveryClientError) {
            let value = try await body()
            OwnAccountWatch.arm(self)
            return value
        } catch { throw CommandFailure(error, session: self) }
    }

    /// Takes turns with the other commands in this home folder: a step reads what is kept, changes it and writes it back.
    private func turn() async throws -> HomeLock {
        for _ in 0..<400 {
            do { if let lock = try home.lock() { return lock } } catch { throw CommandFailure(error, path: home.path) }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw CommandFailure(
            .environment, "Another signet has been at work in \(home.path) for twenty seconds.",
            "Wait until it has ended, and give the command again. Nothing was changed.")
    }

    /// For a command that puts guardians in force once enough of those who were asked have answered: while some are asked,
    /// the person is asked about that by its own name.
    func ownerKeys() async throws -> OpenedKeys {
        let isAsking = try await recovering { () throws(RecoveryClientError) in try RecoveryFiles(in: home).isAsking }
        return try await granted(isAsking ? .setUpGuardians : .updateAccount) { opened, _ in opened }
    }

    /// The owner's side on this device.
    func ownerSide(_ secrets: DeviceSecrets) -> OwnerSide<SQLiteStore> {
        OwnerSide(client, secrets, RecoveryFiles(in: home))
    }

    /// The guardian's side on this device.
    func guardianSide(_ secrets: DeviceSecrets) -> GuardianSide<SQLiteStore> {
        GuardianSide(client, secrets, RecoveryFiles(in: home))
    }

    /// The new device's side.
    func newDeviceSide(_ secrets: DeviceSecrets) -> NewDeviceSide<SQLiteStore> {
        NewDeviceSide(client, secrets, RecoveryFiles(in: home))
    }
}

/// How long a recovery may be stopped, as people write it: `2d`, `36h`, `10m`, `5s`.
struct Wait: ExpressibleByArgument {
    let seconds: UInt32

    init(seconds: UInt32) { self.seconds = seconds }

    init?(argument: String) {
        guard let seconds = TimeLength.seconds(of: Array(argument.utf8)) else { return nil }
        self.seconds = UInt32(clamping: seconds)
    }

    var defaultValueDescription: String { TimeLength.text(ofSeconds: UInt64(seconds)) }
}

extension MeetingEvidence {
    /// What was kept of a comparison: the day is that of the meeting, as the user gave it when they compared.
    init(_ comparison: Comparison?) {
        switch (comparison, comparison?.metOn) {
        case (nil, _): self.init(kind: .none, date: 0)
        case (let comparison?, nil): self.init(kind: .code, date: comparison.time)
        case (.some, let day?): self.init(kind: .person, date: day * 86_400)
        }
    }

    /// What the guardian's screen says of how sure the keys are.
    func words(_ owner: Handle) -> String {
        let day = Moment.day(date / 86_400)
        return switch kind {
        case .person: "You met in person on \(day)."
        case .code: "You compared a code on \(day)."
        case .none: "You and \(owner) never compared anything: meet or call them before you go on."
        }
    }
}
