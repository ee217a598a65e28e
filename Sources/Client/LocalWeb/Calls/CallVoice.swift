// SPDX-License-Identifier: Apache-2.0

public import SignetCalls

/// The sound of this device: a microphone and a loudspeaker, as far as there are any.
public protocol CallVoice: Sendable {
    /// What the user should know about it, such as that there is no microphone; nil if there is nothing to say.
    var shortcoming: String? { get }

    /// Sends the user's sound and plays that of the others, until the task is cancelled.
    ///
    /// - Parameters:
    ///   - isMuted: whether silence is sent now in place of the user's sound.
    ///   - tell: is told what is wrong with the sound of this device, in a sentence, and with nil that nothing is any more.
    func talk(
        in call: GroupCall, isMuted: @escaping @Sendable () -> Bool, telling tell: @escaping @Sendable (String?) -> Void
    ) async

    /// Plays what says that somebody is calling, until the task is cancelled.
    func ring() async
}

/// No sound: for a program that has none.
public struct SilentVoice: CallVoice {
    /// No sound.
    public init() {}

    /// That there is none.
    public var shortcoming: String? { "This program has no sound: no one hears you, and you hear no one." }

    /// Sends nothing and plays nothing.
    public func talk(
        in call: GroupCall, isMuted: @escaping @Sendable () -> Bool, telling tell: @escaping @Sendable (String?) -> Void
    ) async {}

    /// Plays nothing.
    public func ring() async {}
}
