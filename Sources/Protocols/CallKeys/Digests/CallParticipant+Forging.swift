// SPDX-License-Identifier: Apache-2.0

package import CallSignalling
import SFrame

extension CallParticipant {
    /// A frame in the name of another member, as any holder of the secret can make it: for tests and demonstrations of
    /// how it is handled.
    package func forge(
        _ plaintext: [UInt8], as member: CallDevice, _ context: MediaContext, number: UInt64
    ) -> [UInt8]? {
        guard member != device, let sending, let index = roster?.index(of: member),
            let key = ring.frameKey(index, context, sending)
        else { return nil }
        return try? FrameSealer(key: key, firstCounter: number).seal(plaintext)
    }
}
