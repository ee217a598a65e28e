// SPDX-License-Identifier: Apache-2.0

/// The size of the log that a client knows to be published, in a header of a request whose body has no room for it: a front end that has
/// not come as far waits a moment, and then answers ``ErrorCode/behind`` in place of something older.
///
/// A server that is the only one of its directory is never behind itself. It passes the header over, and what it shows is judged by the
/// client.
public enum KnownSize {
    /// The name of the header.
    public static let headerName = "signet-known-size"

    /// How long a published checkpoint may be missing at a front end, in seconds: one that lags by a minute answers nothing at all.
    /// A client to whom less is shown for longer takes that for what it would be with one server, a log that went back.
    public static let patience: UInt64 = 600

    /// The value of the header: the size in decimal digits.
    public static func headerValue(_ size: UInt64) -> String { String(size) }

    /// Reads the value.
    ///
    /// - Returns: nil unless it is a number in its one form, without a sign or leading zeros.
    public static func size(headerValue value: String) -> UInt64? {
        guard let size = UInt64(value), headerValue(size) == value else { return nil }
        return size
    }
}
