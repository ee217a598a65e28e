// SPDX-License-Identifier: Apache-2.0

/// How the people in a call are looked up again while it lasts: a device may be revoked meanwhile.
package struct PeopleCheck: Sendable {
    /// At least so long between two, in milliseconds.
    package let pause: UInt64
    /// Who of these may still take part.
    package let again: @Sendable (CallPeople) async -> CallPeople

    /// A check; once a minute at most.
    package init(pause: UInt64 = 60_000, again: @escaping @Sendable (CallPeople) async -> CallPeople) {
        self.pause = pause
        self.again = again
    }
}
