/// What `SIGNET_FUZZ` may be. Each input goes to every parser of its family, and the sum of their paths leads the mutation.
let families: [String: @Sendable () -> [Parser]] = [
    "planted": plantedParsers,
    "log": logParsers,
]
