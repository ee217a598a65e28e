// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import PinnedHTTP
public import SignetAPI

extension Client {
    /// Asks which TLS keys the directory's server uses, and verifies that its log says the same to everyone.
    ///
    /// Only the log's view is stored: the caller stores ``SignetAPI/DirectoryProfile/following(_:)-(DirectoryPins)`` for the
    /// next connections.
    ///
    /// - Returns: the newest pins, which may be those in use.
    /// - Throws: ``ClientError``; ``ClientError/pins(_:)`` if what the directory shows, or withholds, differs from what its log
    ///   says.
    public func newestPins() async throws(ClientError) -> DirectoryPins {
        guard let owner else { throw .misuse(.noAccount) }
        for delay in [0, 100, 400, 1600] {
            if delay > 0 { await surroundings.wait(.milliseconds(delay)) }
            let epoch = try await verifiedAnswer(owner.handle).answer.epoch
            guard let logged = try await loggedPins(in: epoch) else { continue }
            do throws(DirectoryPinsError) {
                let pins = try PinsVerifier(profile).verify(logged, in: epoch)
                guard (try? profile.following(pins).connector()) != nil else { throw .unusable }
                return pins
            } catch { throw .pins(error) }
        }
        throw .pins(.withheld)
    }

    /// - Returns: nil if a newer epoch should be asked about.
    private func loggedPins(in epoch: VerifiedEpoch) async throws(ClientError) -> LoggedPins? {
        let bytes: [UInt8]
        do {
            let request = PinsRequest(size: epoch.size)
            bytes = try await calls.call(PinsRoute.pins, body: request.encoded, signedBy: nil, mayRepeat: true)
        } catch {
            // A server that says that there are no pins is withholding them: every directory has some.
            guard error.family == .environment else { throw .pins(.withheld) }
            throw error
        }
        switch try? PinsAnswer(decoding: bytes) {
        case .pins(let pins): return pins
        case .anotherEpoch: return nil
        case nil: throw .pins(.withheld)
        }
    }
}
