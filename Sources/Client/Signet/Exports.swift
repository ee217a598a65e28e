// SPDX-License-Identifier: Apache-2.0

// An app imports only Signet, and gets the names that its functions take and return. If a module has a name that another
// module also has, such as `Keystore`, only the names that an app needs are exported from it.
@_exported public import DeviceKeystores
@_exported public import KeyTransparency
@_exported public import Meeting
@_exported public import MeetingClient
@_exported public import NoteLog
@_exported public import NotesAPI
@_exported public import NotesClient
@_exported public import PinnedHTTP
@_exported public import RecoveryClient
@_exported public import SealedMessages
@_exported public import SealedNotes
@_exported public import SecretMemory
@_exported public import SignetAPI
@_exported public import SignetClient
@_exported public import SitesClient
@_exported public import SocialRecovery

@_exported public import enum DeviceIdentity.PresenceAction
@_exported public import struct DeviceIdentity.VerifiedHost
@_exported public import struct Issuance.CredentialOffer
@_exported public import struct JOSE.WebKey
@_exported public import struct PinnedChains.TrustAnchors
@_exported public import struct StrictJSON.JSONObject
@_exported public import struct StrictJSON.JSONText
