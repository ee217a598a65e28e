// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
public import TransparencyLog

/// What a client knew of a person's history in an ended log, until it has been compared with the end of that log.
public struct FormerHistory: Hashable, Sendable {
    /// The person's handle.
    public let handle: Handle
    /// The log.
    public let origin: KeyName
    /// The person's entries that the client had verified.
    public let history: LabelHead

    /// Makes a history that is to be compared.
    public init(handle: Handle, origin: KeyName, history: LabelHead) {
        self.handle = handle
        self.origin = origin
        self.history = history
    }
}

/// How far the owner knew their own account's history in an ended log, until the rest of it has been checked.
public struct FormerWatch: Hashable, Sendable {
    /// The log.
    public let origin: KeyName
    /// The watch over it.
    public let watch: OwnWatch

    /// Makes a watch that is to be finished.
    public init(origin: KeyName, watch: OwnWatch) {
        self.origin = origin
        self.watch = watch
    }
}
