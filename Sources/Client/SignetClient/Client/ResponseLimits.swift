// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
public import PinnedHTTP
public import SignetAPI
public import TransparencyLog

extension ResponseLimit {
    /// The limit for an answer of a route.
    public init(_ route: Route) {
        switch route {
        case .lookup:
            self.init(maximumByteCount: LookupResponse.maximumByteCount, mediaType: Route.nativeMediaType)
        case .succession:
            self.init(maximumByteCount: SuccessionChain.maximumByteCount, mediaType: Route.nativeMediaType)
        case .history:
            self.init(maximumByteCount: HistoryResponse.maximumByteCount, mediaType: Route.nativeMediaType)
        case .milestones:
            self.init(maximumByteCount: MilestonesResponse.maximumByteCount, mediaType: Route.nativeMediaType)
        case .possession:
            self.init(
                maximumByteCount: 65 + 1120 + PossessionChallenge.maximumTokenByteCount,
                mediaType: Route.nativeMediaType)
        case .register, .updateState:
            self.init(maximumByteCount: 16, mediaType: Route.nativeMediaType)
        case .addFriend, .acceptFriend, .blockFriend:
            self.init(maximumByteCount: 16_384, mediaType: "application/json")
        case .listFriends, .listFriendsAfter:
            self.init(maximumByteCount: 4_194_304, mediaType: "application/json")
        case .signedFriendRequest:
            self.init(maximumByteCount: SignedFriendRequest.maximumByteCount, mediaType: Route.nativeMediaType)
        case .eCallKeys:
            self.init(maximumByteCount: 16_777_216, mediaType: "application/json")
        case .health, .ready, .metrics:
            self.init(maximumByteCount: 1_048_576, mediaType: nil)
        }
    }

    /// A checkpoint with all its cosignatures.
    public static let checkpoint = ResponseLimit(maximumByteCount: 65_536, mediaType: nil)

    /// A tile: as many hashes as it is wide, or at most that many of the longest entries.
    public init(_ tile: Tile) {
        let each =
            switch tile.content {
            case .hashes: TreeHash.byteCount
            case .entries: 2 + EntryBundle.maximumEntryByteCount
            }
        self.init(maximumByteCount: tile.width * each, mediaType: nil)
    }
}
