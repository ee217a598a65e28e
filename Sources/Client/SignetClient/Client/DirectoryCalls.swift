// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import KeyTransparency
package import PinnedHTTP
package import SignetAPI
import TransparencyLog

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The routes as functions. Answers are parsed but not trusted.
struct DirectoryCalls: Sendable {
    let transport: any HTTPTransport
    let origin: KeyName
    let surroundings: Surroundings
    /// How large a log the client has seen published; nil before the first.
    let known: @Sendable () async -> UInt64?

    /// - Parameter size: how large a log is known to be published, beyond what the client has verified; nil: no more.
    func lookup(_ request: LookupRequest, published size: UInt64? = nil) async throws(ClientError) -> [UInt8] {
        try await call(.lookup, body: request.encoded, published: size, mayRepeat: true)
    }

    /// Every change of the directory's keys; nil before the first.
    func succession() async throws(ClientError) -> [UInt8]? {
        do { return try await call(.succession, body: [], mayRepeat: true) } catch {
            if case .refused(.notFound, _) = error { return nil }
            throw error
        }
    }

    func history(_ request: HistoryRequest) async throws(ClientError) -> [UInt8] {
        try await call(.history, body: request.encoded, mayRepeat: true)
    }

    func milestones(_ request: MilestonesRequest) async throws(ClientError) -> [UInt8] {
        try await call(.milestones, body: request.encoded, mayRepeat: true)
    }

    func challenge(_ request: PossessionRequest) async throws(ClientError) -> PossessionChallenge {
        let body = try await call(.possession, body: request.encoded, mayRepeat: true)
        do { return try PossessionChallenge(decoding: body) } catch { throw .malformedAnswer(.possession) }
    }

    /// Registers a first state or updates a later one.
    ///
    /// - Parameter isFirst: whether this device knows no state of the account before this one.
    func submit(
        _ submission: StateSubmission, isFirst: Bool, by device: DeviceSecrets, with proof: RegistrationProof?
    ) async throws(ClientError) -> StateReceipt {
        let route = submission.state.isByNewDevice(isFirst: isFirst) ? Route.register : .updateState
        let body = try await call(route, body: submission.encoded, signedBy: device, with: proof)
        do { return try StateReceipt(decoding: body) } catch { throw .malformedAnswer(route) }
    }

    /// A signature with which a submission is taken again when the directory has lost it, at any time later.
    func signatureForLater(of submission: StateSubmission, by device: DeviceSecrets) throws(ClientError) -> [UInt8] {
        let content = RequestSignature.Content(Route.register, origin: origin.bytes, body: submission.encoded)
        return try signature(of: content, by: device)
    }

    /// Brings a submission again, byte for byte, with the signature of then. It can be repeated.
    func bringAgain(_ submission: [UInt8], signedThen signature: [UInt8]) async throws(ClientError) -> StateReceipt {
        let route = Route.register
        let limit = ResponseLimit(route)
        let mediaType = limit.mediaType ?? Route.nativeMediaType
        var fields = [TransportRequest.Field(name: "content-type", value: mediaType)]
        fields += Self.fields(published: await known())
        fields.append(
            .init(name: RequestSignature.headerName, value: String(decoding: signature, as: UTF8.self)))
        let request = TransportRequest(
            method: route.method, path: route.path, fields: fields, body: submission, limit: limit, mayRepeat: true)
        let body = try await untilThere { () throws(ClientError) in
            try success(try await send(request, mayRepeat: true))
        }
        do { return try StateReceipt(decoding: body) } catch { throw .malformedAnswer(route) }
    }

    /// Requests or accepts a friendship, with the user's newest checkpoint.
    func befriend(
        _ handle: Handle, route: Route, with checkpoint: [UInt8], by device: DeviceSecrets
    ) async throws(ClientError) -> FriendAnswer {
        let card = String(decoding: Base64.encode(checkpoint), as: UTF8.self)
        let request = FriendRequest(handle: handle.description, checkpoint: card)
        return try decode(try await call(route, body: try encode(request, route), signedBy: device), of: route)
    }

    func blockFriend(_ handle: Handle, by device: DeviceSecrets) async throws(ClientError) {
        let body = try encode(FriendRequest(handle: handle.description), .blockFriend)
        let _: FriendAnswer = try decode(try await call(.blockFriend, body: body, signedBy: device), of: .blockFriend)
    }

    /// What a person signed when they asked the user, or agreed; nil if the directory shows nothing.
    func signedFriendRequest(of handle: Handle, by device: DeviceSecrets) async throws(ClientError) -> [UInt8]? {
        let route = Route.signedFriendRequest
        let body = try encode(FriendRequest(handle: handle.description), route)
        do { return try await call(route, body: body, signedBy: device) } catch {
            if case .refused(.notFound, _) = error { return nil }
            throw error
        }
    }

    /// What the server says about a person's devices; none of it is proven.
    func eCallKeys(_ request: ECallRequest) async throws(ClientError) -> [ECallEntry] {
        let body = try encode(request, .eCallKeys)
        return try decode(try await call(.eCallKeys, body: body, mayRepeat: true), of: .eCallKeys)
    }

    private func encode(_ request: some Encodable, _ route: Route) throws(ClientError) -> [UInt8] {
        guard let body = try? JSONEncoder().encode(request) else { throw .malformedAnswer(route) }
        return Array(body)
    }

    /// A page of the user's friends, after a handle; the first page for nil.
    func friends(of device: DeviceSecrets, after handle: String?) async throws(ClientError) -> FriendList {
        let route = handle == nil ? Route.listFriends : .listFriendsAfter
        var body: [UInt8] = []
        if let handle { body = try encode(FriendRequest(handle: handle), route) }
        return try decode(try await call(route, body: body, signedBy: device), of: route)
    }

    /// A file of the log, at a path below its prefix; nil if there is none.
    ///
    /// - Parameter size: how large a log is known to be published; nil: that does not matter for the file.
    func logFile(
        _ path: [UInt8], limit: ResponseLimit, published size: UInt64? = nil
    ) async throws(ClientError) -> [UInt8]? {
        let path = Route.logPrefix + "/" + String(decoding: path, as: UTF8.self)
        let request = TransportRequest(method: "GET", path: path, fields: Self.fields(published: size), limit: limit)
        return try await untilThere { () throws(ClientError) in
            let response = try await send(request, mayRepeat: true)
            return response.status == 404 ? nil : try success(response)
        }
    }

    /// Asks again while the answer is that of a front end that has not come as far as others.
    private func untilThere<Answer>(
        _ ask: () async throws(ClientError) -> Answer
    ) async throws(ClientError) -> Answer {
        try await surroundings.repeating(while: \.isBehind, ask)
    }

    private static func fields(published size: UInt64?) -> [TransportRequest.Field] {
        size.map { [TransportRequest.Field(name: KnownSize.headerName, value: KnownSize.headerValue($0))] } ?? []
    }

    /// A page for browsers, as this client gets it.
    func page(_ page: WebPage) async throws(ClientError) -> [UInt8] {
        let limit = ResponseLimit(maximumByteCount: WebPage.maximumByteCount, mediaType: "text/html")
        return try success(
            try await send(TransportRequest(method: "GET", path: page.path, limit: limit), mayRepeat: true))
    }

    /// Calls a route of another service of the server.
    func call(
        _ route: some PartRoute, body: [UInt8], signedBy device: DeviceSecrets?, mayRepeat: Bool
    ) async throws(ClientError) -> [UInt8] {
        let limit = ResponseLimit(
            maximumByteCount: route.maximumAnswerByteCount, mediaType: Route.nativeMediaType)
        let content = RequestSignature.Content(route, origin: origin.bytes, body: body)
        return try await call(
            content, limit, signedBy: device, mayRepeat: mayRepeat, longestWait: route.longestWait)
    }

    private func call(
        _ route: Route, body: [UInt8], signedBy device: DeviceSecrets? = nil, with proof: RegistrationProof? = nil,
        published size: UInt64? = nil, mayRepeat: Bool = false
    ) async throws(ClientError) -> [UInt8] {
        let content = RequestSignature.Content(route, origin: origin.bytes, body: body)
        return try await call(
            content, ResponseLimit(route), signedBy: device, with: proof, published: size, mayRepeat: mayRepeat)
    }

    private func call(
        _ content: RequestSignature.Content, _ limit: ResponseLimit, signedBy device: DeviceSecrets?,
        with proof: RegistrationProof? = nil, published size: UInt64? = nil, mayRepeat: Bool,
        longestWait: Duration = .zero
    ) async throws(ClientError) -> [UInt8] {
        // A front end that is behind has done nothing, and a signed request is signed afresh.
        try await untilThere { () throws(ClientError) in
            try await callOnce(
                content, limit, signedBy: device, with: proof, published: size, mayRepeat: mayRepeat,
                longestWait: longestWait)
        }
    }

    private func callOnce(
        _ content: RequestSignature.Content, _ limit: ResponseLimit, signedBy device: DeviceSecrets?,
        with proof: RegistrationProof?, published size: UInt64?, mayRepeat: Bool, longestWait: Duration
    ) async throws(ClientError) -> [UInt8] {
        let mediaType = limit.mediaType ?? Route.nativeMediaType
        // A front end that has not come as far may not know a device yet that another one has taken: it is not to refuse it for good.
        let size = if device != nil, size == nil { await known() } else { size }
        var fields = [TransportRequest.Field(name: "content-type", value: mediaType)] + Self.fields(published: size)
        if let device {
            let value = String(decoding: try signature(of: content, by: device), as: UTF8.self)
            fields.append(.init(name: RequestSignature.headerName, value: value))
        }
        if let proof { fields.append(.init(name: proof.headerName, value: proof.headerValue)) }
        let request = TransportRequest(
            method: content.method, path: content.path, fields: fields, body: content.body, limit: limit,
            // A signed request has a nonce that is accepted only once.
            mayRepeat: mayRepeat && device == nil, longestWait: longestWait)
        return try success(try await send(request, mayRepeat: mayRepeat))
    }

    private func signature(
        of content: RequestSignature.Content, by device: DeviceSecrets
    ) throws(ClientError) -> [UInt8] {
        do {
            return try RequestSignature(
                content, deviceKey: device.keys.signing,
                time: surroundings.now(), nonce: surroundings.randomBytes(16), sign: device.sign
            ).headerValue
        } catch { throw .keystore(error) }
    }

    /// Sends a request, and repeats it if the environment failed and repeating does no harm.
    private func send(
        _ request: TransportRequest, mayRepeat: Bool
    ) async throws(ClientError) -> TransportResponse {
        do throws(TransportError) {
            return try await surroundings.repeating(while: { mayRepeat && $0.family == .environment }) {
                () throws(TransportError) in try await transport.send(request)
            }
        } catch { throw .transport(error) }
    }

    private func success(_ response: TransportResponse) throws(ClientError) -> [UInt8] {
        guard response.status != 200 else { return response.body }
        if let code = response.refusal { throw .refused(code, retryAfter: response.retryAfter) }
        guard !TransportResponse.mayPass(response.status) else {
            throw .notReached(status: response.status, retryAfter: response.retryAfter)
        }
        throw .unexpectedStatus(response.status)
    }

    private func decode<Body: Decodable>(_ body: [UInt8], of route: Route) throws(ClientError) -> Body {
        do { return try JSONDecoder().decode(Body.self, from: Data(body)) } catch {
            throw .malformedAnswer(route)
        }
    }
}

extension TransportResponse {
    /// Why the directory refuses; nil if this is no refusal of a directory.
    package var refusal: ErrorCode? {
        guard (400..<600).contains(status) else { return nil }
        return try? JSONDecoder().decode(ErrorBody.self, from: Data(body)).error
    }
}

extension AccountState {
    /// Whether the request comes from a device that the account did not have before.
    fileprivate func isByNewDevice(isFirst: Bool) -> Bool {
        switch step {
        case .ordinary: version == 1 || isFirst
        case .started, .recovered: true
        case .stopped: false
        }
    }
}
