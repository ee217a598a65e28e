public import KeyTransparency
public import SignetClient

/// What a look at the own account, at the keys of others that were used, and at the pins of the directory's server has found.
public enum WatchFinding: Hashable, Sendable {
    /// The log shows something under the user's name that this device did not do.
    case ownAccount(MonitorAlarm)
    /// The log does not have what the user was shown of somebody.
    case shownKeys(ShownKeysAlarm)
    /// The directory's answer to the look failed a check.
    case refused(WatchSubject, ClientError)
    /// The look fails for any reason, and has for too long: since then, in seconds since 1970. The directory may be hiding what it
    /// logged.
    case overdue(WatchSubject, since: UInt64, ClientError)
}

/// What is looked at.
public enum WatchSubject: Hashable, Sendable, CaseIterable {
    /// What the log has under the user's name.
    case ownAccount
    /// What the user was shown of others.
    case shownKeys
    /// The keys by which the directory's server is known.
    case pins
}

extension OpenHome {
    /// Looks at all three, if that is due: the log is asked once a day.
    ///
    /// - Returns: what a person has to know. A directory that answers one falsely does not keep them from the other.
    public func check() async -> [WatchFinding] {
        do throws(ClientError) { guard try await client.isCheckDue() else { return [] } } catch {
            return Self.finding(error, .ownAccount)
        }
        var findings: [WatchFinding] = []
        do throws(ClientError) {
            findings += try await client.checkOwnAccount().alarms.map { .ownAccount($0) }
        } catch { findings += Self.finding(error, .ownAccount, since: try? await client.uncheckedSince()) }
        do throws(ClientError) {
            findings += try await client.checkShownKeys().map { .shownKeys($0) }
        } catch { findings += Self.finding(error, .shownKeys, since: try? await client.uncheckedShownKeysSince()) }
        do throws(ClientError) { try keep(try await client.newestPins()) } catch {
            findings += Self.finding(error, .pins)
        }
        return findings
    }

    /// One look may fail for many reasons. A server that refuses only these looks must not go unnoticed, though.
    private static func finding(_ error: ClientError, _ subject: WatchSubject, since: UInt64? = nil) -> [WatchFinding] {
        if error.family == .peer || error.family == .bug { return [.refused(subject, error)] }
        return since.map { [.overdue(subject, since: $0, error)] } ?? []
    }
}
