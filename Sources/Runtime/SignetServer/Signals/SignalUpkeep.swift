import ServiceLifecycle
import SignalBroker

/// Keeps the hub's time, and writes what it has to write, for as long as the server runs.
struct SignalUpkeep: Service {
    let hub: SignalHub

    func run() async throws { await cancelWhenGracefulShutdown { await hub.run() } }
}
