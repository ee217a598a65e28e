// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Crypto
import SFrame
import SFrameOpenSSL

/// SFrame vectors in the schema of the working group's repository.
struct SFrameSuite: VectorSuite {
    static let configuration = CommandConfiguration(
        commandName: "sframe",
        abstract: "SFrame (RFC 9605): headers, AES-CTR-HMAC ciphers, and whole frames with every derived value.")

    @Argument(help: "The JSON file.") var path: String

    func fill(_ report: inout VectorReport) throws(VectorFileError) {
        let file: File = try VectorFile(path).json()
        let ciphers = (file.aes_ctr_hmac ?? []) + (file.aes_256_ctr_hmac ?? [])
        let (headers, frames) = (file.header ?? [], file.sframe ?? [])
        guard !headers.isEmpty || !ciphers.isEmpty || !frames.isEmpty else { throw .noCases(path: path) }
        for (number, entry) in headers.enumerated() { report.add("header/\(number)", failure: entry.failure) }
        for (number, entry) in ciphers.enumerated() { report.add("aes_ctr_hmac/\(number)", failure: entry.failure) }
        for (number, entry) in frames.enumerated() { report.add("sframe/\(number)", failure: entry.failure) }
        let unsent = frames.count { $0.isBeyondSending }
        if unsent > 0 { report.remark("\(unsent) frames opened and not sent: counter beyond 2^32") }
    }

    struct File: Decodable {
        let header: [Header]?
        let aes_ctr_hmac: [Cipher]?
        let aes_256_ctr_hmac: [Cipher]?
        let sframe: [Frame]?
    }

    struct Header: Decodable {
        let kid: UInt64
        let ctr: UInt64
        let encoded: HexField

        var failure: String? {
            let header = FrameHeader(keyID: kid, counter: ctr)
            guard header.encoded == encoded.bytes else { return "encodes otherwise" }
            guard let read = try? FrameHeader(startOf: encoded.bytes) else { return "refused, must be accepted" }
            return read == header && read.byteCount == encoded.bytes.count ? nil : "decodes to another header"
        }
    }

    struct Cipher: Decodable {
        let cipher_suite: UInt16
        let key: HexField
        let nonce: HexField
        let aad: HexField
        let pt: HexField
        let ct: HexField

        var failure: String? {
            guard let suite = CipherSuite(rawValue: cipher_suite) else { return "unknown suite \(cipher_suite)" }
            guard let cipher = try? suite.makeCipher(key: SymmetricKey(data: key.bytes)) else {
                return "the key is refused"
            }
            var sealed: [UInt8] = []
            try? cipher.seal(pt.bytes[...], nonce: nonce.bytes, authenticating: aad.bytes, into: &sealed)
            guard sealed == ct.bytes else { return "encrypts otherwise" }
            let opened = try? cipher.open(ct.bytes[...], nonce: nonce.bytes, authenticating: aad.bytes)
            return opened == pt.bytes ? nil : "decrypts otherwise"
        }
    }

    struct Frame: Decodable {
        let cipher_suite: UInt16
        let kid: UInt64
        let ctr: UInt64
        let base_key: HexField
        let sframe_key: HexField
        let sframe_salt: HexField
        let metadata: HexField
        let nonce: HexField
        let pt: HexField
        let ct: HexField
        /// False for a frame that must not open.
        let valid: Bool?

        /// We open frames of any counter and send none of these.
        var isBeyondSending: Bool { valid != false && ctr >= FrameSealer.maximumFrameCount }

        var failure: String? {
            guard let suite = CipherSuite(rawValue: cipher_suite) else { return "unknown suite \(cipher_suite)" }
            let baseKey = SymmetricKey(data: base_key.bytes)
            let derived = DerivedKey(baseKey: baseKey, keyID: kid, suite: suite)
            guard derived.key == SymmetricKey(data: sframe_key.bytes) else { return "derives another key" }
            guard derived.salt == sframe_salt.bytes else { return "derives another salt" }
            let reference = try? FrameKey(baseKey: baseKey, keyID: kid, suite: suite)
            let quick = try? FrameKey(
                baseKey: baseKey, keyID: kid, suite: suite, makeCipher: suite.makeOpenSSLCipher)
            guard let reference, let quick else { return "no key" }
            guard reference.nonce(ctr) == nonce.bytes else { return "forms another nonce" }
            return frameFailure(reference) ?? frameFailure(quick)
        }

        private func frameFailure(_ key: FrameKey) -> String? {
            var opener = FrameOpener()
            opener.insert(key)
            let opened = try? opener.open(ct.bytes, metadata: metadata.bytes)
            if valid == false { return opened == nil ? nil : "opened, must be refused" }
            guard let opened else { return "refused" }
            guard opened.plaintext == pt.bytes else { return "decrypts otherwise" }
            return isBeyondSending ? nil : sealFailure(key)
        }

        private func sealFailure(_ key: FrameKey) -> String? {
            let sealer = FrameSealer(key: key, firstCounter: ctr)
            guard let sealed = try? sealer.seal(pt.bytes, metadata: metadata.bytes) else { return "not encrypted" }
            return sealed == ct.bytes ? nil : "encrypts otherwise"
        }
    }
}
