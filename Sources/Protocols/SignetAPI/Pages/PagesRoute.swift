// SPDX-License-Identifier: Apache-2.0

/// Which pages the directory's server sends to browsers, as its log has it: body ``StatementRequest``, answer ``StatementAnswer`` with the
/// text of ``LoggedPages``.
public enum PagesRoute: PartRoute {
    /// The one question.
    case pages

    /// The path, without a query.
    public var path: String { "/v1/pages" }
    /// Anyone, limited by address: whom it answers the server need not know.
    public var access: PartAccess { .open }
    /// As how many requests it counts for its address.
    public var cost: UInt64 { 1 }
    /// The longest body of a request, in bytes.
    public var maximumRequestByteCount: Int { StatementRequest.byteCount }
    /// The longest body of an honest answer, in bytes.
    public var maximumAnswerByteCount: Int { StatementAnswer.maximumByteCount }
}
