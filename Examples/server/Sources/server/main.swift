import Foundation
import Hummingbird
import HummingbirdTLS
import Logging
import NIOCore
import SignetServer

// server DATA PORT, after: signetd init --data DATA --origin example.org/signet --url https://localhost:PORT
let words = CommandLine.arguments
guard words.count == 3, let port = Int(words[2]) else {
    print("usage: server DATA PORT")
    exit(64)
}

/// Knows the address that a request came from.
struct Context: RequestContext, RemoteAddressRequestContext {
    var coreContext: CoreRequestContextStorage
    let remoteAddress: SocketAddress?

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        remoteAddress = source.channel.remoteAddress
    }
}

/// Gives Signet the requests that are its own, and the router the others.
struct Mounted: RouterMiddleware {
    let signet: SignetService

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let answer = try await signet.respond(to: request.head, body: request.body, from: context.remoteAddress)
        if let answer { return answer }
        return try await next(request, context)
    }
}

do {
    let logger = Logger(label: "server")
    let signet = try await SignetService.open(DataDirectory(path: words[1]), logger: logger)
    let router = Router(context: Context.self)
    router.add(middleware: Mounted(signet: signet))
    router.get("hello") { _, _ in "Hello from the app.\n" }

    let app = Application(
        router: router, server: try .tls(tlsConfiguration: signet.identity.configuration()),
        configuration: .init(address: .hostname("127.0.0.1", port: port)), services: [signet], logger: logger)
    try await app.runService()
} catch {
    print("stopped: \(error)")
    exit(1)
}
