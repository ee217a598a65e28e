// SPDX-License-Identifier: Apache-2.0

/// Where a relay of Signet is reached.
public enum RelayAddress {
    /// The path at which the directory's server opens a WebSocket to a device that signs the request.
    public static let path = "/v1/signals"
    /// The WebSocket's sub-protocol.
    public static let subprotocol = "v12.stomp"
}

/// Why a relay ends a connection: the word in the `message` header of its ERROR frame.
public enum RelayFault: String, Error, Hashable, Sendable, CaseIterable {
    // MARK: STOMP

    /// Not a frame of STOMP 1.2, or larger than the relay takes.
    case malformedFrame = "malformed-frame"
    /// The client does not speak STOMP 1.2.
    case wrongVersion = "wrong-version"
    /// The first frame is not CONNECT, or none came in time.
    case notConnected = "not-connected"
    /// A second CONNECT, or a frame that only servers send.
    case unexpectedFrame = "unexpected-frame"
    /// A header has a value that means nothing.
    case invalidHeader = "invalid-header"
    /// There is a subscription of that name already, or one to the same destination, on this connection.
    case repeatedSubscription = "repeated-subscription"
    /// There is no subscription of that name.
    case unknownSubscription = "unknown-subscription"
    /// There is no message of that name to acknowledge.
    case unknownMessage = "unknown-message"
    /// There is a transaction of that name already.
    case repeatedTransaction = "repeated-transaction"
    /// There is no transaction of that name.
    case unknownTransaction = "unknown-transaction"
    /// The client promised heart-beats and fell silent.
    case silent

    // MARK: What a device may do

    /// There is no such destination, or not for this frame.
    case unknownDestination = "unknown-destination"
    /// The inbox of another device.
    case anotherInbox = "another-inbox"
    /// The device is not in the call, or there is no such call.
    case notInCall = "not-in-call"
    /// The device was not invited, or there is no such call.
    case notInvited = "not-invited"
    /// A call of that id was started by another device, or has ended.
    case callTaken = "call-taken"
    /// While the device that started the call is in it, only that device may end it or remove a member.
    case notYourCall = "not-your-call"
    /// The call has as many members as a call can have.
    case callFull = "call-full"
    /// The body is not a signal.
    case malformedSignal = "malformed-signal"
    /// The signal is for another call or inbox than the destination.
    case wrongDestination = "wrong-destination"
    /// The signal names another sender.
    case anotherSender = "another-sender"
    /// The sender did not sign the signal.
    case invalidSignature = "invalid-signature"

    // MARK: How much a device may do

    /// More frames in a while than the relay takes. Wait, then connect again.
    case tooFast = "too-fast"
    /// What the device does not read or acknowledge has become too much.
    case tooSlow = "too-slow"
    /// Too much that the account sent is on its way from inboxes.
    case tooMuchKept = "too-much-kept"
    /// More connections of the device, or of its account, than the relay takes; the oldest is ended.
    case tooManyConnections = "too-many-connections"
    /// More subscriptions than the relay takes.
    case tooManySubscriptions = "too-many-subscriptions"
    /// More transactions, or frames in one, than the relay takes.
    case transactionTooLarge = "transaction-too-large"
    /// More calls of the account than the relay takes.
    case tooManyCalls = "too-many-calls"

    // MARK: The relay

    /// The connection is as old as one may become. Connect again.
    case tooOld = "too-old"
    /// The relay stops or cannot write. Connect again.
    case unavailable
}
