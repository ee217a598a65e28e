// SPDX-License-Identifier: Apache-2.0

/// What this machine calls its users.
package enum UserName {
    /// The name of a user; nil if the machine has none for the number.
    package static func of(_ user: uid_t) -> String? {
        var (entry, found) = (passwd(), UnsafeMutablePointer<passwd>?.none)
        var memory = [CChar](repeating: 0, count: 1 << 14)
        return memory.withUnsafeMutableBufferPointer { memory -> String? in
            guard let start = memory.baseAddress,
                getpwuid_r(user, &entry, start, memory.count, &found) == 0, found != nil,
                let name = entry.pw_name
            else { return nil }
            return String(cString: name)
        }
    }
}
