// A stand-in for Apple's module, for checking types on another system: declarations as Apple's documentation has them.
public enum LAPolicy: Int, Sendable { case deviceOwnerAuthentication = 2 }
public struct LAError: Error {
    public enum Code: Int, Sendable { case authenticationFailed = -1, userCancel = -2 }
    public var code: Code { .userCancel }
}
open class LAContext {
    public init() {}
    open var touchIDAuthenticationAllowableReuseDuration: Double = 0
    open func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool { false }
}
