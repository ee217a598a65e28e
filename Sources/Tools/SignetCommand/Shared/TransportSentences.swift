// SPDX-License-Identifier: Apache-2.0

import PinnedHTTP
import Signet

extension TransportError {
    func sentence(_ directory: String) -> Sentence {
        switch self {
        case .invalidAddress:
            Sentence(
                "\(directory) is not the address of a directory.",
                "It must be https://host or https://host:port. Get the directory file again.")
        case .invalidRoot:
            Sentence("The directory file's certificate is not valid.", "Get the directory file again.")
        case .nameNotFound:
            Sentence(
                "There is no host with the name in \(directory).", "Check the network, and the directory file.")
        case .unreachable:
            Sentence(
                "Nothing answers at \(directory).",
                "Check that the directory is running and the network is up.")
        case .timedOut(.connecting):
            Sentence("\(directory) did not answer in time.", "Check the network and try again.")
        case .timedOut(.handshake):
            Sentence(
                "\(directory) did not complete the TLS handshake in time.",
                "Try again; if that does not help, ask the directory's operator.")
        case .timedOut(.reading): Sentence("\(directory) stopped responding in the middle of its answer.", "Try again.")
        case .closedEarly: Sentence("\(directory) closed the connection before its answer was complete.", "Try again.")
        case .closedInHandshake:
            Sentence(
                "\(directory) closed the connection at once. It may have as many connections as it takes, from your network or of all.",
                "Try again in a minute. If it stays so, tell the directory's operator, with the address from which you connect."
            )
        case .handshakeFailed:
            Sentence(
                "\(directory) does not speak TLS as a directory does.",
                "Check the port in the directory file.")
        case .refused(let refusal): refusal.sentence(directory)
        case .noPins:
            Sentence(
                "The directory file names no key for its server, and signet does not connect without one.",
                "Get a new directory file from the operator.")
        case .invalidPins(let fault):
            Sentence("The directory file's pins are not valid: \(fault.words).", "Get a new directory file.")
        case .policyForAnotherEnvironment:
            Sentence("The pin policy is for another environment.", "Use the policy for production.")
        case .notUpgraded(let status) where TransportResponse.mayPass(status): .notReached(directory, status)
        case .notUpgraded(let status):
            Sentence("\(directory) does not open a WebSocket here (HTTP status \(status)).", "Check the address.")
        case .wrongSubprotocol:
            Sentence("\(directory) speaks another protocol over its WebSocket.", "Check the address.")
        case .malformedResponse:
            Sentence(
                "What answers at \(directory) is not a directory.", "Check the address in the directory file."
            )
        case .tooLong(let limit):
            Sentence(
                "The answer is longer than any honest one (\(limit) bytes).",
                "It was dropped. If it happens again, the directory misbehaves.")
        case .unexpectedMediaType:
            Sentence(
                "\(directory) answered with another kind of document.",
                "Check that there is no proxy or login page in between.")
        case .unknown:
            Sentence(
                "The network library failed with an error that signet does not know.", CommandFailure.bugRemedy)
        }
    }
}

extension Sentence {
    /// What is before the directory answers for it, with one of the statuses that may pass.
    static func notReached(_ directory: String, _ status: Int) -> Sentence {
        let what =
            status == 429
            ? "Something between here and \(directory), such as a proxy, takes no more requests for now"
            : "Something between here and \(directory), such as a proxy, cannot reach it at the moment"
        return Sentence(
            "\(what) (HTTP status \(status)).",
            "Try again in a minute. If it stays so, tell the directory's operator.")
    }
}
