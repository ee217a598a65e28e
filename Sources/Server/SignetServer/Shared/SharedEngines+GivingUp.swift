// SPDX-License-Identifier: Apache-2.0

import ObjectStores
import PostgresStores

// What a process that was told to stop does if its engines do not answer. All that it holds is either committed in the database or not
// acknowledged, so that nothing is lost with what it gives up; and whose outcome is then unknown is not acknowledged either.
extension SharedEngines {
    /// For how long a process that was told to stop waits for engines that do not answer.
    package static let grace = Duration.seconds(10)
    /// A database that was not reached for so long does not answer.
    private static let silence = Duration.seconds(5)

    /// Ends what this process asks database and object store, at once and for good.
    package func giveUp() async {
        cutOff.cut()
        await objects.close()
    }

    /// Gives up after the ``grace``, when the process was told to stop. It goes on for as long as the database answers to requests in progress,
    /// and no longer than these may take.
    ///
    /// - Parameters:
    ///   - drain: how long requests in progress may take; zero: there are none.
    ///   - lag: how long ago the database was last reached.
    ///   - onGivingUp: called before.
    ///   - sleep: waits.
    package func giveUpAfterGrace(
        draining drain: Duration = .zero, lag: @Sendable () -> Duration = { .zero },
        onGivingUp: @Sendable () -> Void = {},
        sleeping sleep: @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
    ) async {
        var passed = Self.grace
        await sleep(Self.grace)
        while passed < drain, lag() < Self.silence {
            await sleep(.seconds(1))
            passed += .seconds(1)
        }
        onGivingUp()
        await giveUp()
    }
}
