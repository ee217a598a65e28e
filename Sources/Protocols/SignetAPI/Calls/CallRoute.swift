// SPDX-License-Identifier: Apache-2.0

/// The routes of calls beside signals, which go over STOMP.
public enum CallRoute: PartRoute {
    /// Asks for a ticket to the relay of frames. Request: the 16 bytes of a call. Answer: ``RelayAdmission``.
    case relay

    /// The path.
    public var path: String { "/app/api/call/relay" }
    /// A device asks.
    public var access: PartAccess { .signed }
    /// As one request.
    public var cost: UInt64 { 1 }
    /// In bytes.
    public var maximumRequestByteCount: Int { 16 }
    /// In bytes.
    public var maximumAnswerByteCount: Int { RelayAdmission.maximumByteCount }
}
