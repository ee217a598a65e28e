// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
public import PinnedHTTP
public import SignetAPI
import TransparencyLog

/// A user's side of a directory: it sends requests, verifies every answer, remembers, and blocks when something is wrong.
///
/// It is a value: copies share the transport and the store. Two processes may work on one store.
public struct Client<Store: ClientStore>: Sendable {
    /// The directory.
    public let profile: DirectoryProfile
    /// What the client remembers.
    public let store: Store
    /// The user's own account on this device; nil before there is one.
    public let owner: Owner?

    let calls: DirectoryCalls
    let verifier: LookupVerifier
    package let surroundings: Surroundings
    let origin: KeyName
    let broughtAgain = BroughtAgain()

    /// The user of this client.
    public struct Owner: Hashable, Sendable {
        /// The user's handle.
        public let handle: Handle
        /// This device's Ed25519 key, 32 bytes.
        public let deviceKey: [UInt8]
        /// The account's identity key, 33 bytes, on a device that holds it: such an account belongs to the device from the
        /// start. On every other device the user has to confirm it.
        public let identityKey: [UInt8]?

        /// Makes an owner.
        public init(handle: Handle, deviceKey: [UInt8], identityKey: [UInt8]? = nil) {
            self.handle = handle
            self.deviceKey = deviceKey
            self.identityKey = identityKey
        }
    }

    /// Makes a client of one directory.
    ///
    /// - Throws: ``ClientError/misuse(_:)`` if the profile's policy names no log, or logs of several origins.
    public init(
        of profile: DirectoryProfile, over transport: any HTTPTransport, remembering store: Store,
        owner: Owner?, in surroundings: Surroundings = .system
    ) throws(ClientError) {
        guard let origin = profile.trust.policy.logs.first?.name,
            profile.trust.policy.logs.allSatisfy({ $0.name == origin })
        else { throw .misuse(.profileNeedsOneLog) }
        self.profile = profile
        self.store = store
        self.owner = owner
        self.origin = origin
        self.surroundings = surroundings
        verifier = LookupVerifier(trust: profile.trust)
        calls = DirectoryCalls(transport: transport, origin: origin, surroundings: surroundings) {
            (try? await store.logView(origin: origin.bytes))??.head.size
        }
    }

    /// The largest checkpoint verified so far; nil before the first.
    ///
    /// - Throws: ``ClientError/store(_:)``.
    public func logView() async throws(ClientError) -> LogView? {
        try await stored { () throws(StoreError) in try await store.logView(origin: origin.bytes) }
    }

    /// Calls a route of another service of the server, such as the notes. The caller reads the answer; it is not trusted.
    ///
    /// - Parameters:
    ///   - device: signs the request; nil for an unsigned route.
    ///   - mayRepeat: whether sending the request again does no harm if the environment fails.
    /// - Throws: ``ClientError``: ``ClientError/transport(_:)`` and some of ``ClientError/refused(_:retryAfter:)`` are
    ///   worth a retry, as ``ClientError/family`` says.
    package func call(
        _ route: some PartRoute, _ body: [UInt8], signedBy device: DeviceSecrets?, mayRepeat: Bool = false
    ) async throws(ClientError) -> [UInt8] {
        try await calls.call(route, body: body, signedBy: device, mayRepeat: mayRepeat)
    }

    /// A page that the server sends to browsers. Nothing is verified.
    ///
    /// - Throws: ``ClientError``.
    package func page(_ page: WebPage) async throws(ClientError) -> [UInt8] { try await calls.page(page) }

    func stored<Value: Sendable>(
        _ body: () async throws(StoreError) -> Value
    ) async throws(ClientError) -> Value {
        do { return try await body() } catch { throw .store(error) }
    }
}
