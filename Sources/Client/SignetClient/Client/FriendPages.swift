import KeyTransparency
import SignetAPI

/// The directory's list of friends, put together page by page: each begins behind the one before, so that none comes twice,
/// and there is an end.
struct FriendPages {
    /// In order of handle.
    private(set) var friends: [(Handle, FriendStatus)] = []
    /// Whether the directory has said that people come behind these.
    private(set) var wantsMore = true
    private let maximumCount: Int

    /// The most people that a list may have. An honest server takes an account's requests for its pages faster than its rate
    /// would end them.
    static let maximumCount = 64 * FriendList.maximumCount

    init(maximumCount: Int = Self.maximumCount) { self.maximumCount = maximumCount }

    /// Behind whom the next page begins; nil for the first one.
    var last: String? { friends.last?.0.description }

    /// Takes the next page.
    ///
    /// - Throws: ``ClientError``; ``ClientError/friendList(_:)``, or `malformedAnswer`: somebody has no handle.
    mutating func take(_ page: FriendList) throws(ClientError) {
        guard page.friends.count <= FriendList.maximumCount else { throw .friendList(.pageTooLong) }
        guard !page.friends.isEmpty || page.more != true else { throw .friendList(.emptyPage) }
        guard friends.count + page.friends.count <= maximumCount else { throw .friendList(.endless) }
        for entry in page.friends {
            guard let handle = try? Handle(canonical: Array(entry.handle.utf8)) else {
                throw .malformedAnswer(.listFriends)
            }
            if let before = friends.last?.0 {
                guard before.bytes.lexicographicallyPrecedes(handle.bytes) else { throw .friendList(.outOfOrder) }
            }
            friends.append((handle, entry.status))
        }
        wantsMore = page.more == true
    }
}

/// Why a directory's list of friends is none.
public enum FriendListError: Error, Hashable, Sendable, CaseIterable {
    /// Somebody is listed twice, or a page does not begin behind the one before it.
    case outOfOrder
    /// More people on a page than one has.
    case pageTooLong
    /// Nobody on a page, and more are said to come.
    case emptyPage
    /// More people than a directory takes requests and friends of an account for.
    case endless
}
