import DeviceKeystores
import SignetAPI
import SignetClient

/// Whether a card is the one that the new device made: its person compares twelve digits, wherever a device is added.
extension LinkCode {
    /// The digits of a card.
    static func of(_ card: DeviceCard) throws -> LinkCode {
        do { return try LinkCode(of: card) } catch { throw CommandFailure(error, path: "the card") }
    }

    /// Demands that the person read the same digits on the new device.
    ///
    /// - Parameter code: what they typed; nil asks them at the terminal.
    func compare(typed code: String?) throws {
        if let code {
            guard matches(typed: code) else { throw Self.otherDevice }
            return
        }
        let question = "Does the new device show \(text)?"
        guard try Question.confirm(question, option: "--code DIGITS") else { throw Self.otherDevice }
    }

    private static var otherDevice: CommandFailure {
        CommandFailure(
            .notProven, "This card is not the one that your new device made.",
            "Nothing was linked. Carry the card over once more, in a way that nobody can get between.")
    }
}
