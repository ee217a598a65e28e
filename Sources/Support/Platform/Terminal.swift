// SPDX-License-Identifier: Apache-2.0

/// How many columns the terminal behind an open file has; nil if there is none, or if it does not say.
package func columnCount(of descriptor: Int32) -> Int? {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
}
