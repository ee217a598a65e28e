// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import SignetAPI

/// The directory's list of friends, assembled page by page. Each page begins behind the previous one, so that no entry occurs
/// twice and the list ends.
struct FriendPages {
    /// The friends in order of handle.
    private(set) var friends: [(Handle, FriendStatus)] = []
    /// Whether the directory has said that more people follow.
    private(set) var wantsMore = true
    private let maximumCount: Int

    /// The most people that a list may have. An honest server accepts an account's page requests faster than its rate limit
    /// would end them.
    static let maximumCount = 64 * FriendList.maximumCount

    init(maximumCount: Int = Self.maximumCount) { self.maximumCount = maximumCount }

    /// The handle behind which the next page begins; nil for the first one.
    var last: String? { friends.last?.0.description }

    /// Takes the next page.
    ///
    /// - Throws: ``ClientError``; ``ClientError/friendList(_:)``, or `malformedAnswer` if an entry has no valid handle.
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

/// Why a directory's list of friends is invalid.
public enum FriendListError: Error, Hashable, Sendable, CaseIterable {
    /// A person is listed twice, or a page does not begin behind the previous one.
    case outOfOrder
    /// A page has more people than a page may have.
    case pageTooLong
    /// A page is empty although more people are said to follow.
    case emptyPage
    /// More people than the requests and friends that a directory accepts for an account.
    case endless
}
