"""What an interceptor read, one line each. Loaded by mitmdump."""

import os

record = open(os.environ["MITM_RECORD"], "a", buffering=1)


def request(flow):
    print("request", flow.request.path, flow.request.headers.get("authorization", "-"), file=record)


def websocket_message(flow):
    print("websocket", flow.websocket.messages[-1].text, file=record)
