// SPDX-License-Identifier: Apache-2.0

import CoreMetrics
import Logging
import Metrics
import Synchronization
import Telemetry
import Testing

@testable import SignetServer

/// The two outputs of the server about itself: log lines and metrics.
struct OutputTests {
    @Test func aLogLineEscapesLineFeedsQuotesAndControlCharacters() {
        let lines = Mutex<[String]>([])
        var logger = Logger(label: "test") { _ in
            LogfmtOutput(level: .info, now: { 784_111_777 }) { line in
                lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) }
            }
        }
        logger[metadataKey: "b"] = "x=\"1\"\n\u{7}"
        logger.info("two words", metadata: ["a": "plain", "c": ""])
        logger.debug("not written")
        #expect(
            lines.withLock { $0 } == [
                #"time=1994-11-06T08:49:37Z level=info msg="two words" a=plain b="x=\"1\"\n?" c="""# + "\n"
            ])
    }

    @Test func aHistogramsBoundsAreInclusive() {
        let factory = PrometheusFactory()
        let timer = Timer(label: "t", dimensions: [("r", "x")], factory: factory)
        for nanoseconds in [500_000, 500_001, 10_000_000_000, 11_000_000_000] as [Int64] {
            timer.recordNanoseconds(nanoseconds)
        }
        let lines = String(decoding: PrometheusText.print(factory), as: UTF8.self).split(separator: "\n")
        #expect(lines.contains(#"t_bucket{r="x",le="0.0005"} 1"#))
        #expect(lines.contains(#"t_bucket{r="x",le="0.001"} 2"#))
        #expect(lines.contains(#"t_bucket{r="x",le="10"} 3"#))
        #expect(lines.contains(#"t_bucket{r="x",le="+Inf"} 4"#))
        #expect(lines.contains(#"t_count{r="x"} 4"#))
    }

    @Test func labelsAreEscapedAndSorted() {
        #expect(PrometheusText.labels([("b", "\"\\\n"), ("a", "1")]) == #"a="1",b="\"\\\n""#)
    }

    @Test func theNumberOfSeriesIsBounded() {
        let factory = PrometheusFactory()
        for number in 0..<5000 {
            Counter(label: "c", dimensions: [("n", "\(number)")], factory: factory).increment()
        }
        #expect(factory.all.count == PrometheusFactory.maximumSeriesCount)
    }

    @Test func aCounterWithTheNameOfAGaugeIsIgnored() {
        let factory = PrometheusFactory()
        Meter(label: "m", factory: factory).set(7)
        Counter(label: "m", factory: factory).increment()
        #expect(String(decoding: PrometheusText.print(factory), as: UTF8.self) == "# TYPE m gauge\nm 7\n")
    }
}
