function done(summary)
    local errors = summary.errors
    local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
    io.write(string.format("RATE %.0f FAILED %d\n", summary.requests / summary.duration * 1e6, failed))
end
