// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// A program that was started without a shell, in a process group of its own. It has no file of this process but the three that it is given.
///
/// For a process with many open files: Foundation's `Process` lists these when it starts a program, and with about 1,300 or more it can read
/// beyond what the system gave it, which ends this process (Swift 6.3.1; swift-corelibs-foundation, pull request 5472).
package final class ChildProcess: Sendable {
    /// How a program ended.
    package enum End: Hashable, Sendable {
        /// With this status, 0 to 255.
        case exited(Int32)
        /// By this signal.
        case killed(Int32)
        /// The system does not say how, as where this process ignores `SIGCHLD` or something else has asked before: it may have failed.
        case unknown
    }

    /// The program could not be started.
    package struct StartFault: Error, Hashable, Sendable {
        /// The system's error number.
        package let code: Int32
    }

    /// Its process number, until it has ended.
    package let number: pid_t
    private let isOver = Mutex(false)

    private init(_ number: pid_t) { self.number = number }

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - path: of the program's file.
    ///   - arguments: besides its name.
    ///   - environment: all of it.
    ///   - folder: its working directory.
    ///   - input: what it reads from, a descriptor of more than 2, which the caller closes; so are the others.
    /// - Throws: ``StartFault``.
    package static func start(
        _ path: String, _ arguments: [String] = [], environment: [String: String], in folder: String,
        input: Int32, output: Int32, errors: Int32
    ) throws(StartFault) -> ChildProcess {
        #if canImport(Glibc) || canImport(Musl)
            var (actions, attributes) = (posix_spawn_file_actions_t(), posix_spawnattr_t())
            let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
        #else
            var (actions, attributes): (posix_spawn_file_actions_t?, posix_spawnattr_t?) = (nil, nil)
            let flags =
                POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_CLOEXEC_DEFAULT
        #endif
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        for (place, file) in [input, output, errors].enumerated() {
            // One that could not be opened must not leave the program this process's own.
            let code = posix_spawn_file_actions_adddup2(&actions, file, Int32(place))
            guard code == 0 else { throw StartFault(code: code) }
        }
        #if canImport(Glibc) || canImport(Musl)
            let change: ActionAtFolder = try function("posix_spawn_file_actions_addchdir_np")
            let closeFrom: ActionAtFile = try function("posix_spawn_file_actions_addclosefrom_np")
            _ = change(&actions, folder)
            _ = closeFrom(&actions, 3)
        #else
            posix_spawn_file_actions_addchdir_np(&actions, folder)
        #endif
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(&attributes, Int16(flags))

        var number = pid_t()
        let code = withPointers([path] + arguments) { words in
            withPointers(environment.map { "\($0.key)=\($0.value)" }) { variables in
                posix_spawn(&number, path, &actions, &attributes, words, variables)
            }
        }
        guard code == 0 else { throw StartFault(code: code) }
        return ChildProcess(number)
    }

    /// Waits for its end. To be called once: until then the system keeps its number.
    package func end() async -> End {
        await withCheckedContinuation { ended in
            DispatchQueue.global().async { ended.resume(returning: self.reap()) }
        }
    }

    private func reap() -> End {
        var found = siginfo_t()
        while waitid(P_PID, id_t(number), &found, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        return isOver.withLock { isOver in
            var status: Int32 = 0
            var reaped: pid_t
            repeat { reaped = waitpid(number, &status, 0) } while reaped < 0 && errno == EINTR
            isOver = true
            guard reaped == number else { return .unknown }
            let signal = status & 0x7f
            return signal == 0 ? .exited(status >> 8 & 0xff) : .killed(signal)
        }
    }

    /// Kills it with all that it has started and that is in its process group, unless it has ended.
    package func kill() {
        isOver.withLock { if !$0 { _ = send(SIGKILL, to: -number) } }
    }
}

#if canImport(Glibc) || canImport(Musl)
    private typealias ActionAtFolder =
        @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, UnsafePointer<CChar>) -> Int32
    private typealias ActionAtFile = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32

    /// A function of the C library, of version 2.34 or newer, that its headers show to programs of GNU alone.
    private func function<Function>(_ name: String) throws(ChildProcess.StartFault) -> Function {
        guard let address = dlsym(nil, name) else { throw ChildProcess.StartFault(code: ENOSYS) }
        return unsafeBitCast(address, to: Function.self)
    }
#endif

private func send(_ signal: Int32, to process: pid_t) -> Int32 { kill(process, signal) }

/// The strings as C has them in `argv` and `environ`.
private func withPointers<Result>(
    _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
) -> Result {
    let pointers = strings.map { strdup($0) }
    defer { for pointer in pointers { free(pointer) } }
    return body(pointers + [nil])
}
