-- Native lookups of random people by a client that knows no checkpoint. The requests are made before the clock starts: making one
-- takes processor time that the server should have.
local accounts = tonumber(os.getenv("ACCOUNTS"))
local head = "signet-lookup-request/v3\n" .. string.rep("\0", 17)
local headers = { ["Content-Type"] = "application/vnd.signet" }
local requests = {}

function init()
    for number = 1, math.min(accounts, 10000) do
        local handle = "user" .. math.random(0, accounts - 1) .. "@example.org"
        requests[number] = wrk.format(os.getenv("METHOD") or "POST", wrk.path, headers, head .. handle)
    end
end

function request()
    return requests[math.random(#requests)]
end

-- Prints how many requests were answered in how many microseconds and how many failed; then the 50th, 99th and 99.9th percentile of
-- the answers' times and the longest, in microseconds.
function done(summary, latency)
    local errors = summary.errors
    local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
    io.write(string.format(
        "COUNTED %d %d %d %d %d %d %d\n", summary.requests, summary.duration, failed, latency:percentile(50),
        latency:percentile(99), latency:percentile(99.9), latency.max))
end
