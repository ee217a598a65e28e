// SPDX-License-Identifier: Apache-2.0

import EngineLab
import Foundation
import SQLStores
import Testing

@testable import PostgresStores

/// A process gives up what it asks, while a server says nothing. Every limit of time is far away.
struct CutOffTests {
    @Test func aConnectionThatIsBeingMadeIsGivenUp() async throws {
        let (host, cutOff) = (try ShutHost(refusing: nil), PostgresCutOff())
        let address = try host.address()
        let (ends, report) = AsyncStream.makeStream(of: PostgresOpenError?.self)
        Thread.detachNewThread {
            do throws(PostgresOpenError) {
                _ = try PostgresConnection.open(address, connecting: .seconds(60), cutOff: cutOff)
                report.yield(nil)
            } catch { report.yield(error) }
        }
        for await _ in host.arrivals { break }
        let duration = await ContinuousClock().measure {
            cutOff.cut()
            for await end in ends {
                #expect(end == .unreachable(address: address.description, words: "no answer in time"))
                break
            }
        }
        #expect(duration < .seconds(30))
    }

    /// Not even a name is looked up, which has no limit of time.
    @Test func noConnectionIsBegunAfterwards() {
        let cutOff = PostgresCutOff()
        cutOff.cut()
        let failure = #expect(throws: PostgresFailure.self) {
            try PostgresSocket.connect(["no such option": "x"], .now + .seconds(60), cutOff)
        }
        #expect(failure?.words == PostgresSocket.silence)
    }
}

/// A process gives up while a commit is under way.
@Suite(.enabled(if: PostgresLab.isPresent, "There is no PostgreSQL 15 here.")) struct GivenUpCommitTests {
    enum Moment: CaseIterable {
        case asked
        case done

        func isReached(_ message: CuttingProxy.Message) -> Bool {
            self == .asked ? message.asks(for: "COMMIT") : message.ends("COMMIT")
        }
    }

    /// Whether the server has committed or not: nobody is told that it did, and nothing is asked any more.
    @Test(arguments: Moment.allCases)
    func aCommitThatIsGivenUpIsUnknown_andWhatComesLaterIsRefused(moment: Moment) async throws {
        let lent = try PostgresLab.database()
        let (proxy, cutOff, runs) = (try lent.proxy(), PostgresCutOff(), Tally())
        let direct = try lent.open(SQLRule.schema)
        var options = PostgresDatabase.Options()
        options.patience = .seconds(60)
        options.cutOff = cutOff
        let database = try PostgresDatabase(at: proxy.address, SQLRule.schema, options: options)
        func write() async -> SQLFault? {
            await fault {
                try await database.write { transaction in
                    runs.up()
                    try transaction.run(Counters.add, [1])
                }
            }
        }
        proxy.decide { message in
            guard moment.isReached(message) else { return .pass }
            cutOff.cut()
            return .withhold
        }
        let duration = await ContinuousClock().measure {
            #expect(await write() == .outcomeUnknown(.postgres(state: nil)))
        }
        #expect(duration < .seconds(30))
        #expect(try await Counters.count(direct) == (moment == .asked ? 0 : 1))
        proxy.pass()
        #expect(await write()?.isUnavailable == true)
        #expect(runs.count == 1)
    }
}
