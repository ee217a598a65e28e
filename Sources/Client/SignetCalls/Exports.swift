// An app that calls imports SignetCalls beside Signet, and has the names that its functions take and return.
@_exported public import CallClient
@_exported public import CallSignalling
@_exported public import SignalClient
@_exported public import Signet
