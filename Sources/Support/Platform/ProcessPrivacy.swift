// SPDX-License-Identifier: Apache-2.0

/// Keeps other processes of the same user from reading this one's memory, and its core from being written: the system lets only the
/// administrator trace it or open its memory from then on. False if the system cannot be told.
package func denyInspection() -> Bool {
    #if canImport(Glibc)
        // `prctl` takes any number of arguments, and Swift calls no such function by its name. On Linux these are passed like any others.
        typealias Call = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32
        guard let place = dlsym(nil, "prctl") else { return false }
        let dumpable: Int32 = 4  // PR_SET_DUMPABLE, linux/prctl.h
        return unsafeBitCast(place, to: Call.self)(dumpable, 0, 0, 0, 0) == 0
    #else
        return false
    #endif
}

/// Keeps memory from being written to the disk when the machine runs short of it; false if the user's limit forbids it.
package func keepInMemory(_ memory: UnsafeRawBufferPointer) -> Bool {
    mlock(memory.baseAddress, memory.count) == 0
}

/// Closes every open file but the standard streams; called first of all, before this process has opened any itself.
package func closeInherited() {
    #if canImport(Glibc)
        closefrom(STDERR_FILENO + 1)
    #else
        for descriptor in STDERR_FILENO + 1..<1024 { close(descriptor) }
    #endif
}
