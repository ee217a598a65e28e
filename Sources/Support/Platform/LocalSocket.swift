// SPDX-License-Identifier: Apache-2.0

/// A socket in the file system, for processes of one user on one machine.
package struct LocalSocket: ~Copyable {
    /// The longest name, in bytes.
    #if canImport(Darwin)
        package static let maximumPathByteCount = 103
    #else
        package static let maximumPathByteCount = 107
    #endif

    private let descriptor: Int32

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Makes the socket, which only this user can open, and waits for callers. Nothing may be there under that name.
    package static func listening(at path: String) -> LocalSocket? {
        let mask = umask(0o177)
        defer { umask(mask) }
        guard let socket = open(path, bind), listen(socket.descriptor, 8) == 0 else { return nil }
        return socket
    }

    /// Calls what listens there; nil if nothing does.
    package static func calling(_ path: String) -> LocalSocket? { open(path, connect) }

    /// Whether a socket is there that nothing listens at any more.
    package static func isAbandoned(_ path: String) -> Bool {
        var isRefused = false
        _ = open(path) { descriptor, address, length in
            let result = connect(descriptor, address, length)
            isRefused = result != 0 && errno == ECONNREFUSED
            return result
        }
        return isRefused
    }

    /// The next caller; nil if none came in that time.
    package func caller(withinMilliseconds limit: Int32) -> LocalSocket? {
        var asked = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&asked, 1, limit) == 1 else { return nil }
        let found = accept(descriptor, nil, nil)
        return found < 0 ? nil : LocalSocket(found)
    }

    /// Whose process is at the other end; nil if the system does not say.
    package var peerUser: uid_t? {
        #if canImport(Glibc)
            // struct ucred: process, user and group, of four bytes each.
            var (credentials, length) = ([UInt32](repeating: 0, count: 3), socklen_t(12))
            let result = getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length)
            return result == 0 && length == 12 ? credentials[1] : nil
        #else
            var (user, group) = (uid_t(), gid_t())
            return getpeereid(descriptor, &user, &group) == 0 ? user : nil
        #endif
    }

    /// A read or write that takes longer fails.
    package func limit(toSeconds seconds: Int) {
        var time = timeval(tv_sec: seconds, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
        }
    }

    /// Fills all of some memory; false if the other end closed, or took too long.
    package func fill(_ memory: UnsafeMutableRawBufferPointer) -> Bool {
        var count = 0
        while count < memory.count {
            let got = recv(descriptor, memory.baseAddress?.advanced(by: count), memory.count - count, 0)
            if got < 0 && errno == EINTR { continue }
            guard got > 0 else { return false }
            count += got
        }
        return true
    }

    /// Sends bytes; false if the other end closed, or took too long.
    package func send(_ bytes: UnsafeRawBufferPointer) -> Bool {
        #if canImport(Darwin)
            let flags: Int32 = 0
        #else
            let flags = Int32(MSG_NOSIGNAL)
        #endif
        var count = 0
        while count < bytes.count {
            let put = systemSend(descriptor, bytes.baseAddress?.advanced(by: count), bytes.count - count, flags)
            if put < 0 && errno == EINTR { continue }
            guard put > 0 else { return false }
            count += put
        }
        return true
    }

    private static func open(
        _ path: String, _ join: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32
    ) -> LocalSocket? {
        let name = Array(path.utf8)
        guard name.count <= maximumPathByteCount, !name.contains(0) else { return nil }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        #if canImport(Glibc)
            let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        #else
            let kind = SOCK_STREAM
        #endif
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { return nil }
        let opened = LocalSocket(descriptor)
        let result = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                join(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { return nil }
        return opened
    }
}

private func systemSend(_ descriptor: Int32, _ start: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int {
    send(descriptor, start, count, flags)
}
