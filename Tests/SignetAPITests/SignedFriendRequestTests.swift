// SPDX-License-Identifier: Apache-2.0

import Crypto
import SignetAPI
import Testing

/// What a friend's device signed, as the directory hands it on.
@Suite struct SignedFriendRequestTests {
    private let key = Curve25519.Signing.PrivateKey()
    private let origin = Array("example.org/log".utf8)
    private let body = Array(#"{"checkpoint":"AA==","handle":"bob@example.org"}"#.utf8)

    private func request(isAgreement: Bool) throws -> SignedFriendRequest {
        let route = isAgreement ? Route.acceptFriend : .addFriend
        let signature = try RequestSignature(
            RequestSignature.Content(route, origin: origin, body: body),
            deviceKey: Array(key.publicKey.rawRepresentation), time: 5000, nonce: [UInt8](repeating: 9, count: 16)
        ) { try Array(key.signature(for: $0)) }
        return try SignedFriendRequest(isAgreement: isAgreement, signature: signature, body: body)
    }

    @Test(arguments: [false, true]) func aSignedFriendRequestRoundTripsAndVerifies(isAgreement: Bool) throws {
        let request = try request(isAgreement: isAgreement)
        #expect(try SignedFriendRequest(decoding: request.encoded) == request)
        #expect(request.encoded.count <= SignedFriendRequest.maximumByteCount)
        #expect(request.isSigned(forLog: origin))
        #expect(!request.isSigned(forLog: Array("example.com/log".utf8)))
    }

    @Test func everyChangedBitIsAnotherRequest() throws {
        let request = try request(isAgreement: false)
        for place in request.encoded.indices {
            for bit in 0..<8 {
                var bytes = request.encoded
                bytes[place] ^= 1 << bit
                guard let changed = try? SignedFriendRequest(decoding: bytes) else { continue }
                #expect(changed.encoded == bytes && !changed.isSigned(forLog: origin), "byte \(place), bit \(bit)")
            }
        }
    }

    @Test func truncatedAndTooLongRequestsAreRefused() throws {
        let bytes = try request(isAgreement: true).encoded
        for count in bytes.indices {
            #expect(throws: SignedFriendRequestError.malformed) {
                try SignedFriendRequest(decoding: Array(bytes[..<count]))
            }
        }
        #expect(throws: SignedFriendRequestError.malformed) { try SignedFriendRequest(decoding: bytes + [0]) }
        let long = [UInt8](repeating: 0x20, count: SignedFriendRequest.maximumBodyByteCount + 1)
        let signature = try request(isAgreement: true).signature
        #expect(throws: SignedFriendRequestError.tooLong) {
            try SignedFriendRequest(isAgreement: true, signature: signature, body: long)
        }
    }

    /// As text, so that a typo in a constant is no other protocol.
    @Test func theRouteIsWhereClientsAsk() {
        #expect(Route.signedFriendRequest.path == "/v1/friends/signed" && Route.signedFriendRequest.method == "POST")
    }
}
