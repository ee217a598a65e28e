// SPDX-License-Identifier: Apache-2.0

// An app with calls imports SignetCalls in addition to Signet, and gets the names that its functions take and return.
@_exported public import CallClient
@_exported public import CallKeys
@_exported public import CallSignalling
@_exported public import SignalClient
@_exported public import Signet
