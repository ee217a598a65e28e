// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
public import SignetClient

/// Findings of the checks of the user's own account, of other people's keys that were used, and of the pins of the directory's
/// server.
public enum WatchFinding: Hashable, Sendable {
    /// The log shows something under the user's handle that this device did not do.
    case ownAccount(MonitorAlarm)
    /// The log does not have the keys that the user was shown for another person.
    case shownKeys(ShownKeysAlarm)
    /// The directory's answer to the check failed verification.
    case refused(WatchSubject, ClientError)
    /// The check has failed, for any reason, for too long: since this time, in seconds since 1970. The directory may be hiding
    /// what it logged.
    case overdue(WatchSubject, since: UInt64, ClientError)
    /// The directory could not show the user's account, and this device has brought these versions of it again, as they were. There is nothing to
    /// do: the log shows the account as before.
    case broughtAgain([UInt64])
}

/// The subject of a check.
public enum WatchSubject: Hashable, Sendable, CaseIterable {
    /// What the log has under the user's handle.
    case ownAccount
    /// The keys of other people that the user was shown.
    case shownKeys
    /// The keys by which clients recognise the directory's server.
    case pins
}

/// The result of a check that the user asked for.
public struct AccountCheck: Sendable {
    /// What the log has under the user's handle.
    public let report: MonitorReport
    /// The keys of other people that the user was shown and that the log does not have.
    public let shownKeys: [ShownKeysAlarm]
    /// The home that is now in force.
    public let home: OpenHome
}

extension OpenHome {
    /// Checks the user's own account and the keys of others that were used, now and whether it is due or not. A change of the
    /// directory's keys is followed during the check.
    ///
    /// - Parameter isAccepting: whether the user confirms that everything found was done by them, so that it raises no alarm again.
    /// - Throws: ``SignetError``, as ``run(_:)`` does.
    public func checkNow(isAccepting: Bool = false) async throws(SignetError) -> AccountCheck {
        let (found, home) = try await run { client throws(ClientError) in
            (
                try await client.checkOwnAccount(isAccepting: isAccepting),
                try await client.checkShownKeys(isAccepting: isAccepting)
            )
        }
        return AccountCheck(report: found.0, shownKeys: found.1, home: home)
    }

    /// Runs all three checks, if they are due: the log is asked once a day. Due or not, it says what was brought again by a change before.
    ///
    /// - Returns: findings that the user has to know. A false answer to one check does not prevent the others.
    public func check() async -> [WatchFinding] {
        let broughtAgain = client.takeBroughtAgain()
        var findings: [WatchFinding] = broughtAgain.isEmpty ? [] : [.broughtAgain(broughtAgain)]
        do throws(ClientError) { guard try await client.isCheckDue() else { return findings } } catch {
            return findings + Self.finding(error, .ownAccount)
        }
        do throws(ClientError) {
            let report = try await client.checkOwnAccount()
            findings += report.alarms.map { .ownAccount($0) }
            if !report.broughtAgain.isEmpty { findings.append(.broughtAgain(report.broughtAgain)) }
        } catch { findings += Self.finding(error, .ownAccount, since: try? await client.uncheckedSince()) }
        do throws(ClientError) {
            findings += try await client.checkShownKeys().map { .shownKeys($0) }
        } catch { findings += Self.finding(error, .shownKeys, since: try? await client.uncheckedShownKeysSince()) }
        do throws(ClientError) { try keep(try await client.newestPins()) } catch {
            findings += Self.finding(error, .pins)
        }
        return findings
    }

    /// One check may fail for many reasons. A server that refuses only these checks must not go unnoticed, though.
    private static func finding(_ error: ClientError, _ subject: WatchSubject, since: UInt64? = nil) -> [WatchFinding] {
        if error.family == .peer || error.family == .bug { return [.refused(subject, error)] }
        return since.map { [.overdue(subject, since: $0, error)] } ?? []
    }
}
