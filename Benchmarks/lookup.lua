-- Native lookups of random people by a client that knows no checkpoint. The requests are made before the clock starts: making one
-- takes processor time that the server should have.
dofile("count.lua")
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
