// SPDX-License-Identifier: Apache-2.0

import KeyTransparency

/// What a directory answers about logs that ended before its own: body `FormerRequest`, answer `FormerResponse`;
/// `notFound`: no such log led here, or it held nothing for the handle.
public enum FormerRoute: PartRoute {
    /// The one question.
    case former

    /// The path, without a query.
    public var path: String { "/v1/former" }
    /// Anyone, limited by address.
    public var access: PartAccess { .open }
    /// As how many requests it counts for its address.
    public var cost: UInt64 { 1 }
    /// The longest body of a request, in bytes.
    public var maximumRequestByteCount: Int { 1024 }
    /// The longest body of an honest answer, in bytes.
    public var maximumAnswerByteCount: Int { FormerResponse.maximumByteCount }
}
