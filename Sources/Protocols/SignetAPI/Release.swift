// SPDX-License-Identifier: Apache-2.0

/// Which Signet this is.
public enum Release {
    /// By the rules of semantic versioning: while the first number is 0, a change of the second may break an app, and a change of the third
    /// does not. Formats have versions of their own, in their first lines.
    public static let version = "0.1.0"
}
