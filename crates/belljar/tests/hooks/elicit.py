"""A tool server on standard input and output with one tool, which asks the person something before it answers."""
import json
import sys

QUESTION = {"message": "Who are you?",
            "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}}}
TOOL = {"name": "ask", "description": "Asks who is there", "inputSchema": {"type": "object", "properties": {}}}

caller = None
for line in sys.stdin:
    said = json.loads(line)
    asked, number = said.get("method"), said.get("id")
    reply = None
    if asked == "initialize":
        reply = {"protocolVersion": said["params"]["protocolVersion"], "capabilities": {"tools": {}},
                 "serverInfo": {"name": "elicit", "version": "1"}}
    elif asked == "tools/list":
        reply = {"tools": [TOOL]}
    elif asked == "tools/call":
        caller = number
        print(json.dumps({"jsonrpc": "2.0", "id": "question", "method": "elicitation/create",
                          "params": QUESTION}), flush=True)
    elif number == "question":
        number, reply = caller, {"content": [{"type": "text", "text": json.dumps(said.get("result"))}]}
    elif number is not None:
        reply = {}
    if reply is not None:
        print(json.dumps({"jsonrpc": "2.0", "id": number, "result": reply}), flush=True)
