// SPDX-License-Identifier: Apache-2.0

/// The shape of the path from a leaf to the root.
///
/// Below the point where it meets the path of the last leaf, the path has a sibling on every level, left
/// or right; from there on only left siblings exist, one for each set bit of the index.
struct TreePath {
    /// Siblings below the meeting point.
    let innerCount: Int
    /// Left siblings above it.
    let borderCount: Int

    var hashCount: Int { innerCount + borderCount }

    /// `index` must be below `size`.
    init(index: UInt64, size: UInt64) {
        innerCount = UInt64.bitWidth - (index ^ (size &- 1)).leadingZeroBitCount
        borderCount = (index >> UInt64(innerCount)).nonzeroBitCount
    }
}
