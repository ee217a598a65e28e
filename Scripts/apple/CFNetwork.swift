// A stand-in for Apple's module, for checking types on another system.
public final class ProxyDictionary {}
public func CFNetworkCopySystemProxySettings() -> Unmanaged<ProxyDictionary>? { nil }
