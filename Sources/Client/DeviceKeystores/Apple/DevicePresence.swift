// SPDX-License-Identifier: Apache-2.0

#if canImport(LocalAuthentication) && canImport(Darwin)
    public import DeviceIdentity
    import Foundation
    import LocalAuthentication

    /// Asks with Face ID, Touch ID or the device's passcode.
    public struct DevicePresence: Presence {
        private let reason: @Sendable (PresenceAction) -> String

        /// - Parameter reason: what the person is shown, in their language, by name of the action.
        public init(reason: @escaping @Sendable (PresenceAction) -> String) { self.reason = reason }

        /// Shows the question and waits for the answer. Nothing is reused from an earlier one.
        public func answer(_ prompt: PresencePrompt) async -> PresenceOutcome {
            let context = LAContext()
            context.touchIDAuthenticationAllowableReuseDuration = 0
            do {
                let isThere = try await context.evaluatePolicy(
                    .deviceOwnerAuthentication, localizedReason: reason(prompt.action))
                return isThere ? .present : .failed
            } catch let error as LAError {
                return error.code == .authenticationFailed ? .failed : .declined
            } catch { return .declined }
        }
    }
#endif
