-- Prints how many requests were answered in how many microseconds and how many failed; then the 50th, 99th and 99.9th percentile of
-- the answers' times and the longest, in microseconds.
function done(summary, latency)
    local errors = summary.errors
    local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
    io.write(string.format(
        "COUNTED %d %d %d %d %d %d %d\n", summary.requests, summary.duration, failed, latency:percentile(50),
        latency:percentile(99), latency:percentile(99.9), latency.max))
end
