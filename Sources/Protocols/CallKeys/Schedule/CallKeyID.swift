// SPDX-License-Identifier: Apache-2.0

/// What a frame is part of. Each context has keys and counters of its own.
public enum MediaContext: UInt8, Hashable, Sendable, CaseIterable {
    /// Microphone.
    case audio = 0
    /// Camera.
    case camera = 1
    /// Screen.
    case screen = 2
    /// Anything else.
    case content = 3

    /// Whether a lost frame spoils the ones after it.
    public var isVideo: Bool { self == .camera || self == .screen }
}

/// The key id of a frame: who sends, what, and under which epoch.
///
/// Wire form: 16 bits index of the sender, 2 bits context, low 4 bits of the generation, 4 bits step, as an SFrame key id:
/// two bytes while fewer than 64 members have ever been in the call.
public struct CallKeyID: Hashable, Sendable {
    /// The sender's number in the roster.
    public let index: UInt16
    /// What the frame is part of.
    public let context: MediaContext
    /// The low four bits of the generation.
    public let generationBits: UInt8
    /// The step, 0 to 15.
    public let step: UInt8

    /// A key id.
    public init(index: UInt16, context: MediaContext, generation: UInt32, step: UInt8) {
        self.index = index
        self.context = context
        generationBits = UInt8(truncatingIfNeeded: generation & 15)
        self.step = step & 15
    }

    /// Reads the number in a frame's header; nil if it is none of ours.
    public init?(rawValue: UInt64) {
        guard rawValue < 1 << 26, let context = MediaContext(rawValue: UInt8(rawValue >> 8 & 3)) else { return nil }
        index = UInt16(truncatingIfNeeded: rawValue >> 10)
        self.context = context
        generationBits = UInt8(rawValue >> 4 & 15)
        step = UInt8(rawValue & 15)
    }

    /// The number in a frame's header.
    public var rawValue: UInt64 {
        UInt64(index) << 10 | UInt64(context.rawValue) << 8 | UInt64(generationBits) << 4 | UInt64(step)
    }
}
