// SPDX-License-Identifier: Apache-2.0

public import Signet

/// What the app gets from the program that serves it, besides its sentences.
public struct WebEquipment: Sendable {
    /// Who certifies sites; nil for the system's authorities.
    public var siteRoots: TrustAnchors?
    /// The sound of calls.
    public var voice: any CallVoice
    /// What reads codes in pictures; nil if nothing does.
    public var pictures: (any PictureReader)?
    /// Where this device waits for another one in a meeting; empty for the addresses that it has.
    public var meetingAddresses: [MeetingAddress] = []

    /// Equipment; what is left out, there is not.
    public init(
        siteRoots: TrustAnchors? = nil, voice: any CallVoice = SilentVoice(), pictures: (any PictureReader)? = nil
    ) {
        (self.siteRoots, self.voice, self.pictures) = (siteRoots, voice, pictures)
    }
}
