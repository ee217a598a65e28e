-- Prints the 50th, 99th and 99.9th percentile of the answers' times and the longest, in microseconds; then how many requests were
-- answered in how many microseconds, the 99th percentile again, and how many failed.
function done(summary, latency)
    local errors = summary.errors
    local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
    io.write(string.format(
        "TIMES %d %d %d %d\n", latency:percentile(50), latency:percentile(99), latency:percentile(99.9), latency.max))
    io.write(string.format(
        "COUNTED %d %d %d %d\n", summary.requests, summary.duration, latency:percentile(99), failed))
end
