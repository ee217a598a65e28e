public import KeyTransparency
public import TransparencyLog

/// What a client knew of somebody's history in a log that ended, until it has been compared with what the log ended with.
public struct FormerHistory: Hashable, Sendable {
    /// Whose.
    public let handle: Handle
    /// The log.
    public let origin: KeyName
    /// Every entry of theirs that the client had verified.
    public let history: LabelHead

    /// A history that is to be compared.
    public init(handle: Handle, origin: KeyName, history: LabelHead) {
        self.handle = handle
        self.origin = origin
        self.history = history
    }
}

/// How far the owner knew the own account's history in a log that ended, until the rest of it has been looked at.
public struct FormerWatch: Hashable, Sendable {
    /// The log.
    public let origin: KeyName
    /// The watch over it.
    public let watch: OwnWatch

    /// A watch that is to be ended.
    public init(origin: KeyName, watch: OwnWatch) {
        self.origin = origin
        self.watch = watch
    }
}
