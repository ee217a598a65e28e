import SignetAPI
import SignetClient
import Synchronization

/// A look at the own account, and at the keys of others that were used, when a command that asked the directory has ended, if one is due.
///
/// An alarm goes to standard error; the command's own answer and status stay as they are.
enum OwnAccountWatch {
    private static let client = Mutex<Client<SQLiteStore>?>(nil)

    /// Lets ``finish()`` look.
    static func arm(_ client: Client<SQLiteStore>) { Self.client.withLock { $0 = client } }

    /// Looks, if a command armed the watch.
    static func finish() async {
        guard let client = client.withLock({ $0 }) else { return }
        do throws(ClientError) {
            guard try await client.isCheckDue() else { return }
            for alarm in try await client.checkOwnAccount().alarms {
                Output.error("\(Paint.error.bad("signet: alarm:")) \(alarm.sentence.what)")
                Output.error("        \(alarm.sentence.remedy)")
            }
            for alarm in try await client.checkShownKeys() {
                Output.error("\(Paint.error.bad("signet: alarm:")) \(alarm.sentence.what)")
                Output.error("        \(alarm.sentence.remedy)")
            }
        } catch {
            // Who is offline, or not registered yet, has had their answer.
            guard error.family == .peer || error.family == .bug else { return }
            let sentence = error.sentence(client.profile.url)
            Output.error("\(Paint.error.bad("signet: your own account cannot be checked:")) \(sentence.what)")
            Output.error("        \(sentence.remedy)")
        }
    }
}
