-- Native lookups of random people by a client that knows no checkpoint.
dofile("count.lua")
local accounts = tonumber(os.getenv("ACCOUNTS"))
local head = "signet-lookup-request/v3\n" .. string.rep("\0", 17)
local headers = { ["Content-Type"] = "application/vnd.signet" }

function request()
    local handle = "user" .. math.random(0, accounts - 1) .. "@example.org"
    return wrk.format("POST", "/v1/lookup", headers, head .. handle)
end
