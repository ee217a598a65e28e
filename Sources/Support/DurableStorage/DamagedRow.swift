// SPDX-License-Identifier: Apache-2.0

/// A row of a database that this program cannot have written.
package struct DamagedRow: Error {
    package init() {}
}
