// SPDX-License-Identifier: Apache-2.0

import Crypto
import DIDKey
import OPAQUE
import SFrame
import STOMP
import SecretSharing
import VRF
import VerifiableMap

@Sendable func vrfParsers() -> [Parser] {
    [
        .canonical("public key", { try VRFPublicKey($0) }, \.bytes),
        .canonical("proof", { try VRFProof($0) }, \.bytes),
        .canonical("hash", { VRFHash($0) }, \.bytes),
    ]
}

@Sendable func mapParsers() -> [Parser] {
    let value = needed { MapValue([UInt8](repeating: 7, count: 32)) }
    return [
        .canonical("proof of absence", { try MapProof(decoding: $0, value: nil) }, \.encoded),
        .canonical("proof of presence", { try MapProof(decoding: $0, value: value) }, \.encoded),
        Parser("snapshot") { bytes in
            let whole = bytes + Array(SHA256.hash(data: bytes))
            return (try? MapTrie.decoding(snapshot: whole)) != nil
        },
        Parser("snapshot in pieces") { bytes in
            var reader = MapSnapshotReader()
            do {
                for piece in [bytes.prefix(50), bytes.dropFirst(50)] { try reader.read(Array(piece)) }
                _ = try reader.finish()
                return true
            } catch { return false }
        },
    ]
}

@Sendable func didParsers() -> [Parser] {
    [
        .canonical("did:key", KeyDID.init(decoding:), \.encoded),
        .canonical("key ID", KeyDID.init(decodingKeyID:), \.keyID),
        Parser("documents") { bytes in
            guard let key = try? KeyDID(decoding: bytes) else { return false }
            return KeyForm.allCases.allSatisfy { !key.document(as: $0).isEmpty } && !key.jsonWebKey.isEmpty
        },
    ]
}

@Sendable func frameParsers() -> [Parser] {
    let suites: [CipherSuite] = [.aes128GCM, .aes256GCM, .aes128CTRTag80, .aes128CTRTag64, .aes256CTRTag32]
    let opener = needed {
        var opener = FrameOpener()
        for (place, suite) in suites.enumerated() {
            let key = SymmetricKey(data: [UInt8](repeating: UInt8(place), count: 32))
            opener.insert(try FrameKey(baseKey: key, keyID: UInt64(place), suite: suite))
        }
        return opener
    }
    return [
        Parser("header") { bytes in
            guard let header = try? FrameHeader(startOf: bytes) else { return false }
            demand(header.encoded, equals: Array(bytes.prefix(header.byteCount)), "header: another one was written")
            return true
        },
        Parser("frame") { bytes in
            var opener = opener
            return (try? opener.open(bytes)) != nil
        },
    ]
}

@Sendable func stompParsers() -> [Parser] {
    [
        Parser("stream, at once and byte by byte") { bytes in
            let whole = StompReading(bytes, pieces: [bytes])
            demand(StompReading(bytes, pieces: bytes.map { [$0] }), equals: whole, "stream: pieces make a difference")
            for case .frame(let frame) in whole.elements {
                // What is written has a content-length, which the frame may have come without.
                let again = StompReading(frame.encoded, pieces: [frame.encoded], room: 1)
                guard case .frame(let read) = again.elements.first else { fatalError("frame: cannot be read again") }
                demand(read.encoded, equals: frame.encoded, "frame: another one was written")
            }
            return !whole.elements.isEmpty
        },
        .canonical("heart-beat", HeartBeat.init(decoding:), \.encoded),
    ]
}

/// What a decoder made of a stream.
private struct StompReading: Equatable {
    var elements: [StompDecoder.Element] = []
    var error: StompDecodingError?

    init(_ bytes: [UInt8], pieces: [[UInt8]], room: Int = 0) {
        let limits = StompLimits(headByteCount: 512 + 1000 * room, headerCount: 8 + room, bodyByteCount: 1024)
        var decoder = StompDecoder(limits: limits)
        for piece in pieces {
            decoder.append(piece)
            do throws(StompDecodingError) {
                while let element = try decoder.next() { elements.append(element) }
            } catch {
                self.error = error
                return
            }
        }
    }
}

@Sendable func shareParsers() -> [Parser] {
    [
        .canonical("point", { try CurvePoint($0) }, \.encoded),
        .canonical("commitments", ShareCommitments.init(decoding:), \.encoded),
        .canonical("SLIP-39 words", SLIP39Share.init(decoding:), \.encoded),
        .settled("SLIP-39 words, typed", SLIP39Share.init(typed:), \.encoded),
        .settled("paper share", PaperShare.share(typed:), PaperShare.words(for:)),
    ]
}

@Sendable func opaqueParsers() -> [Parser] {
    [
        .canonical("registration request", RegistrationRequest.init(decoding:), \.encoded),
        .canonical("registration response", RegistrationResponse.init(decoding:), \.encoded),
        .canonical("registration record", RegistrationRecord.init(decoding:), \.encoded),
        .canonical("login request", LoginRequest.init(decoding:), \.encoded),
        .canonical("login response", LoginResponse.init(decoding:), \.encoded),
        .canonical("login proof", LoginProof.init(decoding:), \.encoded),
        .canonical(
            "server keys", { try LoginServerKeys(decoding: $0.span) },
            {
                $0.withEncoded { span in
                    span.indices.map { span[$0] }
                }
            }),
    ]
}
