// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency

/// Why two people have not met, as far as their devices can tell. Nothing is to be recorded. A retry with the same invitation does not
/// help: both begin again.
public enum MeetingError: Error, Hashable, Sendable {
    // MARK: The invitation

    /// It is no invitation: another text, or one that was cut or changed.
    case notAnInvitation
    /// It was good until this time, in seconds since 1970.
    case expired(UInt64)

    // MARK: The connection

    /// Whoever connected does not know the secret in the invitation: they have not seen it.
    case notInvited
    /// The one-time key is one that gives everybody the same secret.
    case weakKey
    /// The host's number is not the one that the invitation commits to: another device has answered, or the host chose it after it had
    /// seen the guest's.
    case otherOpening
    /// A message does not open: it was changed, sent a second time, sent back to its sender, or belongs to another meeting or step.
    case notOpened
    /// A message opened, and does not have its form. Its sender made it so.
    case malformed

    // MARK: The other person

    /// They have their account at another directory, so that neither can look the other up.
    case otherDirectory
    /// It is the same account, or the same identity key.
    case yourself
    /// The clocks of the two devices are more than a day apart. Days since 1970.
    case otherDay(theirs: UInt64, own: UInt64)
    /// They do not hold the private half of the identity key that they name, or signed for another meeting or in the other role.
    case invalidSignature
    /// The name and the identity key were not put into this meeting by the device that holds its keys.
    case notBound
    /// They show another identity key than the one that this device accepted of the handle that they name, or that it met before.
    case anotherIdentity(Handle)

    // MARK: The two people

    /// The words are not those on the other screen: the device at the other end is not the one that is seen.
    case otherWords
    /// The other person saw that something is wrong, or did not want to.
    case declined

    // MARK: The caller

    /// The signing closure threw, or gave no signature of the identity key.
    case signingFailed
}
