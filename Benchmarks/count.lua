-- Prints how many requests were answered in how many microseconds, the 99th percentile of their times in microseconds, and how
-- many failed.
function done(summary, latency)
    local errors = summary.errors
    local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
    io.write(string.format(
        "COUNTED %d %d %d %d\n", summary.requests, summary.duration, latency:percentile(99), failed))
end
