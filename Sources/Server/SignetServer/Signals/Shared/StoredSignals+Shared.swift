// SPDX-License-Identifier: Apache-2.0

package import FrameRelay
package import KeyDirectory
package import Logging
package import SignalBroker

extension StoredSignals {
    /// The signals of a directory that several front ends have together.
    ///
    /// - Parameters:
    ///   - secret: what all front ends share.
    ///   - file: where their bus is.
    /// - Throws: ``SharedEnginesError``, ``BrokerFileError``.
    package static func share(
        _ engines: SharedEngines, _ secret: FrontEndSecret, over file: BrokerFile, logger: Logger
    ) throws -> SharedSignals {
        let store = SharedSignalStore(try engines.database(SharedSignalStore.schema))
        let keys = secret.keys(for: .signals)
        return SharedSignals(
            knowing: store, over: try RabbitBus(file),
            under: FrontEndKeys(sealing: keys.current) { keys.accepted(at: ServerClock.system.time()) }, clock: clock
        ) { remark in
            switch remark {
            case .carries(let generation):
                logger.info("carries the signals of all front ends", metadata: ["generation": "\(generation)"])
            case .carriesNoMore: logger.warning("carries signals no more")
            case .bus(let isConnected):
                logger.info("the broker of signals", metadata: ["connected": "\(isConnected)"])
            }
        }
    }
}

extension SharedTickets {
    /// The tickets of the relays of all front ends that have a secret in common.
    package init(_ secret: FrontEndSecret) {
        let keys = secret.keys(for: .tickets)
        self.init(
            sealing: keys.current, accepted: { keys.accepted(at: ServerClock.system.time()) },
            date: { ServerClock.milliseconds() })
    }
}
