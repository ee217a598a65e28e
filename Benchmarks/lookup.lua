-- Native lookups of random people by a client that knows no checkpoint.
local accounts = tonumber(os.getenv("ACCOUNTS"))
local head = "signet-lookup-request/v3\n" .. string.rep("\0", 17)
local headers = { ["Content-Type"] = "application/vnd.signet" }

function request()
    local handle = "user" .. math.random(0, accounts - 1) .. "@example.org"
    return wrk.format("POST", "/v1/lookup", headers, head .. handle)
end

function done(summary)
    local errors = summary.errors
    local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
    io.write(string.format("RATE %.0f FAILED %d\n", summary.requests / summary.duration * 1e6, failed))
end
