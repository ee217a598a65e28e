import SignetAPI
import SignetClient
import Synchronization

/// A look at the own account, at the keys of others that were used, and at the pins of the directory's server, when a command that
/// asked the directory has ended, if one is due.
///
/// An alarm goes to standard error; the command's own answer and status stay as they are.
enum OwnAccountWatch {
    private static let session = Mutex<Session?>(nil)

    /// Lets ``finish()`` look.
    static func arm(_ session: Session) { Self.session.withLock { $0 = session } }

    /// Looks, if a command armed the watch.
    static func finish() async {
        guard let session = session.withLock({ $0 }) else { return }
        let client = session.client
        do throws(ClientError) { guard try await client.isCheckDue() else { return } } catch {
            return complain(error, client, of: "your own account")
        }
        // A server that answers one falsely does not keep the person from the other.
        do throws(ClientError) {
            for alarm in try await client.checkOwnAccount().alarms { sound(alarm.sentence) }
        } catch { complain(error, client, of: "your own account", since: try? await client.uncheckedSince()) }
        do throws(ClientError) {
            for alarm in try await client.checkShownKeys() { sound(alarm.sentence) }
        } catch {
            complain(
                error, client, of: "what you were shown of others", since: try? await client.uncheckedShownKeysSince())
        }
        do throws(ClientError) {
            try session.keep(try await client.newestPins())
        } catch { complain(error, client, of: "the server's pins") }
    }

    private static func sound(_ alarm: Sentence) {
        Output.error("\(Paint.error.bad("signet: alarm:")) \(alarm.what)")
        Output.error("        \(alarm.remedy)")
    }

    /// - Parameter since: when that was last looked at, if that is too long ago; in seconds since 1970.
    private static func complain(
        _ error: ClientError, _ client: Client<SQLiteStore>, of what: String, since: UInt64? = nil
    ) {
        let sentence = error.sentence(client.profile.url)
        guard error.family == .peer || error.family == .bug else {
            // One look may fail for many reasons. A server that refuses only these looks must not go unnoticed, though.
            guard let since else { return }
            Output.error(
                "\(Paint.error.bad("signet: \(what) has not been checked since \(Moment.date(since)):")) \(sentence.what)"
            )
            Output.error(
                "        Your command was answered: the directory may be hiding what it logged. Go on with: signet monitor"
            )
            return
        }
        Output.error("\(Paint.error.bad("signet: \(what) cannot be checked:")) \(sentence.what)")
        Output.error("        \(sentence.remedy)")
    }
}
