// SPDX-License-Identifier: Apache-2.0

import CPKCS11
import Foundation
import SecretMemory
import Synchronization

/// An Ed25519 key in a token (a hardware security module, or software that stands for one): it signs, and cannot be read.
///
/// Spec: PKCS #11 v3.0, mechanism CKM_EDDSA without parameters, which is the Ed25519 of RFC 8032.
final class TokenSigningKey: Sendable {
    /// The public half, 32 bytes, as the token states it.
    let publicKey: [UInt8]
    private let functions: TokenFunctions
    private let session: CK_ULONG
    private let key: CK_ULONG
    /// A session does one thing at a time.
    private let turn = Mutex(())

    /// Logs in, once, and finds the key.
    ///
    /// Security: a PIN that the token refuses is not tried again, and none is tried if a mistake would be the last: tokens lock themselves.
    ///
    /// - Throws: ``TokenError``.
    init(_ address: TokenAddress) throws(TokenError) {
        functions = try TokenFunctions(module: address.module)
        let slot = try functions.slot(of: address.token)
        session = try functions.session(slot)
        do throws(TokenError) {
            try functions.logIn(session, pinIn: address.pinFile)
            key = try functions.object(CKO_PRIVATE_KEY, labelled: address.object, session)
            publicKey = try functions.publicKey(labelled: address.object, session)
        } catch {
            functions.close(session)
            throw error
        }
    }

    deinit { functions.close(session) }

    /// - Returns: 64 bytes.
    /// - Throws: ``TokenError/failed(code:)``: the token is gone, or refuses.
    func sign(_ message: [UInt8]) throws(TokenError) -> [UInt8] {
        try turn.withLock { _ throws(TokenError) in try functions.sign(message, key, session) }
    }
}

/// The functions of a module, which stays loaded until the process ends.
private struct TokenFunctions: Sendable {
    /// Nothing writes to the list after the module gave it out.
    private nonisolated(unsafe) let list: CK_FUNCTION_LIST

    init(module: String) throws(TokenError) {
        guard let handle = dlopen(module, RTLD_NOW | RTLD_LOCAL), let symbol = dlsym(handle, "C_GetFunctionList") else {
            throw .module
        }
        let getFunctionList = unsafeBitCast(symbol, to: CK_C_GetFunctionList?.self)
        var found: UnsafeMutablePointer<CK_FUNCTION_LIST>?
        guard let getFunctionList, getFunctionList(&found) == Self.ok, let found else { throw .module }
        list = found.pointee
        // Calling a function that is missing would trap.
        guard list.C_Initialize != nil, list.C_GetSlotList != nil, list.C_GetTokenInfo != nil,
            list.C_OpenSession != nil,
            list.C_CloseSession != nil, list.C_Login != nil, list.C_GetAttributeValue != nil,
            list.C_FindObjectsInit != nil, list.C_FindObjects != nil, list.C_FindObjectsFinal != nil,
            list.C_SignInit != nil, list.C_Sign != nil
        else { throw .module }
        var arguments = CK_C_INITIALIZE_ARGS()
        arguments.flags = CK_ULONG(CKF_OS_LOCKING_OK)
        let code = list.C_Initialize(&arguments)
        guard code == Self.ok || code == CK_ULONG(CKR_CRYPTOKI_ALREADY_INITIALIZED) else {
            throw .failed(code: UInt(code))
        }
    }

    private static let ok = CK_ULONG(CKR_OK)

    private func check(_ code: CK_ULONG) throws(TokenError) {
        guard code == Self.ok else { throw .failed(code: UInt(code)) }
    }

    /// The slot of the token with this label, which the module pads with spaces.
    func slot(of label: [UInt8]) throws(TokenError) -> CK_ULONG {
        var count: CK_ULONG = 0
        try check(list.C_GetSlotList(1, nil, &count))
        var slots = [CK_ULONG](repeating: 0, count: Int(min(count, 1024)))
        count = CK_ULONG(slots.count)
        try check(list.C_GetSlotList(1, &slots, &count))
        let padded = label + [UInt8](repeating: UInt8(ascii: " "), count: 32 - label.count)
        let found = slots.prefix(Int(count)).filter { slot in
            var info = CK_TOKEN_INFO()
            guard list.C_GetTokenInfo(slot, &info) == Self.ok else { return false }
            return withUnsafeBytes(of: info.label) { $0.elementsEqual(padded) }
        }
        guard let slot = found.first else { throw .noToken }
        guard found.count == 1 else { throw .ambiguous }
        return slot
    }

    func session(_ slot: CK_ULONG) throws(TokenError) -> CK_ULONG {
        var info = CK_TOKEN_INFO()
        try check(list.C_GetTokenInfo(slot, &info))
        let lastTry = CK_ULONG(CKF_USER_PIN_FINAL_TRY | CKF_USER_PIN_LOCKED)
        guard info.flags & lastTry == 0 else { throw .locked }
        var session: CK_ULONG = 0
        try check(list.C_OpenSession(slot, CK_ULONG(CKF_SERIAL_SESSION), nil, nil, &session))
        return session
    }

    func close(_ session: CK_ULONG) { _ = list.C_CloseSession(session) }

    func logIn(_ session: CK_ULONG, pinIn path: String) throws(TokenError) {
        var pin = try PINFile.read(path)
        defer { pin.wipe() }
        let count = CK_ULONG(pin.count)
        let code = list.C_Login(session, CK_ULONG(CKU_USER), &pin, count)
        switch Int(code) {
        case CKR_OK, CKR_USER_ALREADY_LOGGED_IN: return
        case CKR_PIN_INCORRECT: throw .wrongPIN
        case CKR_PIN_LOCKED: throw .locked
        default: throw .failed(code: UInt(code))
        }
    }

    /// The one object of a class with this label.
    func object(_ kind: Int, labelled label: [UInt8], _ session: CK_ULONG) throws(TokenError) -> CK_ULONG {
        var (kind, label) = (CK_ULONG(kind), label)
        var objects: [CK_ULONG] = [0, 0]
        var count: CK_ULONG = 0
        let code = withUnsafeMutableBytes(of: &kind) { kind in
            label.withUnsafeMutableBytes { label in
                var attributes = [
                    CK_ATTRIBUTE(
                        type: CK_ULONG(CKA_CLASS), value: kind.baseAddress, length: CK_ULONG(kind.count)),
                    CK_ATTRIBUTE(
                        type: CK_ULONG(CKA_LABEL), value: label.baseAddress, length: CK_ULONG(label.count)),
                ]
                let begun = list.C_FindObjectsInit(session, &attributes, 2)
                guard begun == Self.ok else { return begun }
                defer { _ = list.C_FindObjectsFinal(session) }
                return list.C_FindObjects(session, &objects, 2, &count)
            }
        }
        try check(code)
        guard count > 0 else { throw .noKey }
        guard count == 1 else { throw .ambiguous }
        return objects[0]
    }

    /// The point of the public half: 32 bytes, or those within the octet string of DER that most modules make of them.
    func publicKey(labelled label: [UInt8], _ session: CK_ULONG) throws(TokenError) -> [UInt8] {
        let object = try object(CKO_PUBLIC_KEY, labelled: label, session)
        var point = [UInt8](repeating: 0, count: 128)
        var length: CK_ULONG = 0
        let code = point.withUnsafeMutableBytes { point in
            var attribute = CK_ATTRIBUTE(
                type: CK_ULONG(CKA_EC_POINT), value: point.baseAddress, length: CK_ULONG(point.count))
            defer { length = attribute.length }
            return list.C_GetAttributeValue(session, object, &attribute, 1)
        }
        try check(code)
        let stated = point.prefix(Int(min(length, 128)))
        if stated.count == 32 { return Array(stated) }
        guard stated.count == 34, stated.starts(with: [0x04, 32]) else { throw .notEd25519 }
        return Array(stated.dropFirst(2))
    }

    func sign(_ message: [UInt8], _ key: CK_ULONG, _ session: CK_ULONG) throws(TokenError) -> [UInt8] {
        var (message, mechanism) = (message, CK_MECHANISM())
        mechanism.mechanism = CK_ULONG(CKM_EDDSA)
        try check(list.C_SignInit(session, &mechanism, key))
        var signature = [UInt8](repeating: 0, count: 64)
        var (length, count) = (CK_ULONG(signature.count), CK_ULONG(message.count))
        try check(list.C_Sign(session, &message, count, &signature, &length))
        count = length
        guard count == 64 else { throw .notEd25519 }
        return signature
    }
}

/// The file with a token's PIN: readable by its owner alone, who is this process's user or root.
private enum PINFile {
    static func read(_ path: String) throws(TokenError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw .pinFile(code: errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .pinFile(code: errno) }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o077 == 0,
            status.st_uid == geteuid() || status.st_uid == 0
        else { throw .pinFileNotPrivate }
        var text = [UInt8](repeating: 0, count: 258)
        defer { text.wipe() }
        let count = Foundation.read(descriptor, &text, text.count)
        guard count >= 0 else { throw .pinFile(code: errno) }
        let end = count > 0 && text[count - 1] == UInt8(ascii: "\n") ? count - 1 : count
        guard (1...256).contains(end), !text[..<end].contains(UInt8(ascii: "\n")) else { throw .pinFileNotPrivate }
        return Array(text[..<end])
    }
}

/// Why a key in a token cannot be used.
public enum TokenError: Error, Hashable, Sendable {
    /// The module cannot be loaded, or is none of PKCS #11.
    case module
    /// The file with the PIN cannot be read; the `errno`.
    case pinFile(code: Int32)
    /// Others may read the file with the PIN, or it is not one line.
    case pinFileNotPrivate
    /// There is no token with this label.
    case noToken
    /// The token has no key of this label, or only one half of it.
    case noKey
    /// Two tokens, or two keys, have this label.
    case ambiguous
    /// The token refuses the PIN. It was tried once.
    case wrongPIN
    /// The token is locked, or the next wrong PIN would lock it: it was not tried.
    case locked
    /// The key under this label is not of Ed25519.
    case notEd25519
    /// The key under this label is not the one that the directory has.
    case otherKey
    /// The token or its module failed, with this number of the standard's (CKR).
    case failed(code: UInt)
}
