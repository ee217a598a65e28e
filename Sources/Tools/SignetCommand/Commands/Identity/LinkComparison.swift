import DeviceKeystores
import KeyTransparency
import SignetAPI
import SignetClient

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Whether two devices of a person have the same in hand: the person types on each the twelve digits that the other one shows.
extension LinkCode {
    /// The digits of a card.
    static func of(_ card: LinkCard) throws -> LinkCode {
        do { return try LinkCode(of: card) } catch { throw CommandFailure(error, path: "the card") }
    }

    /// The digits of the account that a card's device is in.
    static func of(_ card: LinkCard, in account: LookupVerdict) throws -> LinkCode {
        let state = account.lookup.state.authored
        do {
            return try LinkCode(confirming: card, identityKey: state.identityKey, stateHash: state.hash)
        } catch { throw CommandFailure(error, path: "the card") }
    }

    /// The digits of the account that the directory shows this new device.
    static func of(_ account: UnconfirmedAccount) throws -> LinkCode {
        do {
            return try LinkCode(
                confirming: account.card, identityKey: account.identityKey, stateHash: account.stateHash)
        } catch { throw CommandFailure(error, path: "the card") }
    }

    /// Demands that the person types the digits that the other device shows. They are not shown here, so that nobody says yes
    /// without looking.
    ///
    /// - Parameters:
    ///   - code: what they typed; nil asks them at the terminal.
    ///   - failure: what it means if they are others.
    func compare(typed code: String?, _ question: String, orElse failure: CommandFailure) throws {
        guard matches(typed: try code ?? Self.ask(question)) else { throw failure }
    }

    private static func ask(_ question: String) throws -> String {
        guard isatty(STDIN_FILENO) == 1 else {
            throw CommandFailure(
                .needsDecision, "This needs your decision, and there is no terminal to ask at.",
                "Look at the other device, then say --code DIGITS.")
        }
        Output.error(question)
        return readLine(strippingNewline: true) ?? ""
    }

    /// The digits were not those of the card.
    static var otherDevice: CommandFailure {
        CommandFailure(
            .notProven, "This card is not the one that your new device made.",
            "Nothing was linked. Carry the card over once more, in a way that nobody can get between.")
    }

    /// The digits were not those of the account.
    static var otherAccount: CommandFailure {
        CommandFailure(
            .notProven,
            "ALARM: the account that the directory shows this device is not the one that your other device has.",
            "Nothing was accepted. Type the digits once more; if they differ again, do not use this directory. "
                + "If the account has changed since, 'signet devices add' with the same card shows its new digits.")
    }
}
