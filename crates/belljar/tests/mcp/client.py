"""The official client, on a tour through every tool: client.py stdio PROGRAM… | http URL KEY | modern URL KEY"""

import asyncio
import base64
import contextlib
import sys
import tempfile

import httpx2
from mcp import ClientSession, StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

TOOLS = {
    "sandbox_create", "sandbox_execute", "sandbox_status", "sandbox_stop", "sandbox_configure",
    "sandbox_upload", "sandbox_logs", "sandbox_list", "sandbox_delete", "sandbox_read_file",
    "sandbox_write_file", "sandbox_list_files", "sandbox_diff", "sandbox_snapshot",
}


@contextlib.asynccontextmanager
async def connected(how, *where):
    if how == "stdio":
        transport = stdio_client(StdioServerParameters(command=where[0], args=list(where[1:])))
    else:
        http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {where[1]}"}, timeout=60)
        transport = streamable_http_client(where[0], http_client=http)
    if how == "modern":
        async with Client(transport) as client:
            yield client
        return
    async with transport as (reads, writes), ClientSession(reads, writes) as session:
        greeting = await session.initialize()
        assert greeting.server_info.name == "belljar", greeting
        yield session


async def call(session, tool, **arguments):
    answer = await session.call_tool(tool, arguments)
    assert not answer.is_error, (tool, answer)
    return answer.structured_content


async def refused(session, code, tool, **arguments):
    answer = await session.call_tool(tool, arguments)
    assert answer.is_error, (tool, answer)
    assert answer.structured_content["error_code"] == code, answer
    return answer.structured_content


async def runs_code(session, box):
    ran = await call(session, "sandbox_execute", sandbox_id=box, code="console.log(process.env.GREETING, 6 * 7)")
    assert ran["output"] == "hello 42\n" and ran["exit_code"] == 0 and ran["status"] == "completed", ran
    assert ran["execution_id"].startswith("exe_") and ran["execution_time"] > 0, ran
    ran = await call(session, "sandbox_execute", sandbox_id=box, language="python", code="import sys; sys.exit(3)")
    assert ran["exit_code"] == 3 and ran["status"] == "failed", ran
    ran = await call(session, "sandbox_execute", sandbox_id=box, command="pwd; echo $X >&2", env_vars={"X": "y"}, working_dir="/tmp")
    assert ran["output"] == "/tmp\n" and ran["error"] == "y\n", ran
    ran = await call(session, "sandbox_execute", sandbox_id=box, language="sh", code="echo secret", capture_output=False)
    assert ran["output"] == "", ran
    ran = await call(session, "sandbox_execute", sandbox_id=box, command="head -c 1000000 /dev/zero | tr '\\0' x; echo end")
    assert ran["truncated"] and ran["output"].endswith("xend\n") and len(ran["output"]) < 200_000, len(ran["output"])
    late = await refused(session, "EXECUTION_TIMEOUT", "sandbox_execute", sandbox_id=box, command="echo begun; sleep 60", timeout=1)
    assert late["output"] == "begun\n" and late["status"] == "timeout", late
    both = await session.call_tool("sandbox_execute", {"sandbox_id": box, "code": "1", "command": "true"})
    assert both.is_error, both


async def tells_progress(session, box):
    told = []

    async def hear(progress, total, message):
        told.append((progress, total, message))

    answer = await session.call_tool(
        "sandbox_execute",
        {"sandbox_id": box, "command": "for i in 1 2 3 4; do echo $i; sleep 0.8; done"},
        progress_callback=hear,
    )
    assert answer.structured_content["output"] == "1\n2\n3\n4\n", answer
    assert 2 <= len(told) <= 4, told
    assert [step[0] for step in told] == sorted(step[0] for step in told), told
    assert told[-1][2].startswith("1\n2\n") and told[-1][1] == 60, told


async def kills_what_is_cancelled(session, box):
    slow = asyncio.create_task(session.call_tool("sandbox_execute", {"sandbox_id": box, "command": "sleep 4321"}))
    await asyncio.sleep(1)
    seen = await call(session, "sandbox_execute", sandbox_id=box, command="pgrep -f 'sleep [4]321' | wc -l")
    assert seen["output"].strip() != "0", seen
    slow.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await slow
    for _ in range(50):
        seen = await call(session, "sandbox_execute", sandbox_id=box, command="pgrep -f 'sleep [4]321' | wc -l")
        if seen["output"].strip() == "0":
            return
        await asyncio.sleep(0.1)
    raise AssertionError(seen)


async def moves_files(session, box):
    put = await call(session, "sandbox_upload", sandbox_id=box, file_path="/tmp/a/b.txt", content="grüße\n")
    assert put["path"] == "/tmp/a/b.txt" and put["size"] == 8, put
    got = await call(session, "sandbox_read_file", sandbox_id=box, path="/tmp/a/b.txt")
    assert got["content"] == "grüße\n" and got["encoding"] == "text" and got["next_offset"] is None, got
    raw = base64.b64encode(bytes(range(256))).decode()
    await call(session, "sandbox_write_file", sandbox_id=box, path="/tmp/a/raw", content=raw, encoding="base64")
    got = await call(session, "sandbox_read_file", sandbox_id=box, path="/tmp/a/raw", offset=128, max_bytes=64)
    assert base64.b64decode(got["content"]) == bytes(range(128, 192)) and got["next_offset"] == 192, got
    listed = await call(session, "sandbox_list_files", sandbox_id=box, path="/tmp/a")
    assert [file["path"] for file in listed["files"]] == ["/tmp/a/b.txt", "/tmp/a/raw"], listed
    await refused(session, "INVALID_REQUEST", "sandbox_read_file", sandbox_id=box, path="/tmp/../etc/passwd")
    await refused(session, "NOT_FOUND", "sandbox_read_file", sandbox_id=box, path="/tmp/none")


async def shows_changes(session):
    with tempfile.TemporaryDirectory() as workspace:
        made = await call(session, "sandbox_create", workspace=workspace)
        await call(session, "sandbox_execute", sandbox_id=made["sandbox_id"], command="echo new > file.txt")
        diff = await call(session, "sandbox_diff", sandbox_id=made["sandbox_id"])
        assert "+new" in diff["patch"] and "file.txt" in diff["summary"] and not diff["truncated"], diff
        await call(session, "sandbox_delete", sandbox_id=made["sandbox_id"])


async def tour(session):
    tools = {tool.name: tool for tool in (await session.list_tools()).tools}
    assert TOOLS == set(tools), set(tools) ^ TOOLS
    assert "api_key" not in str(tools["sandbox_create"].input_schema)

    made = await call(session, "sandbox_create", template="node", name="tour", timeout=600,
                      env_vars={"GREETING": "hello"}, metadata={"of": "test"}, startup_script="echo ready > /tmp/ready")
    box = made["sandbox_id"]
    assert made["success"] and made["status"] == "running" and made["env_vars_configured"] == ["GREETING"], made
    assert made["metadata"] == {"of": "test"} and made["timeout"] == 600 and made["template"] == "node", made
    await runs_code(session, box)
    await tells_progress(session, box)
    await kills_what_is_cancelled(session, box)
    await moves_files(session, box)
    await shows_changes(session)

    done = await call(session, "sandbox_configure", sandbox_id=box, env_vars={"GREETING": "goodbye"}, run_commands=["true", "exit 7", "true"])
    assert not done["success"] and [step["exit_code"] for step in done["setup"]] == [0, 7], done
    ran = await call(session, "sandbox_execute", sandbox_id=box, command="echo $GREETING; cat /tmp/ready; echo bad >&2")
    assert ran["output"] == "goodbye\nready\n", ran
    logs = await call(session, "sandbox_logs", sandbox_id=box, lines=2)
    assert sorted(logs["logs"]) in (["bad", "ready"], ["goodbye", "ready"]), logs
    logs = await call(session, "sandbox_logs", sandbox_id=box, lines=1, log_level="error", include_timestamps=True)
    assert logs["logs"][0].endswith("Z bad"), logs
    status = await call(session, "sandbox_status", sandbox_id=box)
    assert status["status"] == "running" and status["memory_limit"] > 0, status
    listed = await call(session, "sandbox_list", status="running")
    assert box in [one["sandbox_id"] for one in listed["sandboxes"]], listed
    taken = await call(session, "sandbox_snapshot", sandbox_id=box, name="mine")
    second = await call(session, "sandbox_create", template=taken["snapshot_id"])
    assert second["success"], second

    stopped = await call(session, "sandbox_stop", sandbox_id=second["sandbox_id"])
    assert stopped["status"] == "stopped", stopped
    await refused(session, "SANDBOX_NOT_RUNNING", "sandbox_execute", sandbox_id=second["sandbox_id"], command="true")
    await call(session, "sandbox_delete", sandbox_id=second["sandbox_id"])
    await refused(session, "SANDBOX_NOT_FOUND", "sandbox_status", sandbox_id="sbx_0190000000007000800000000000002a")
    await refused(session, "SANDBOX_NOT_FOUND", "sandbox_status", sandbox_id="nonsense")
    return box


async def main(how, *where):
    async with connected(how, *where) as session:
        box = await tour(session)
        if how != "stdio":
            await call(session, "sandbox_delete", sandbox_id=box)
    print("the tour is over")


asyncio.run(main(*sys.argv[1:]))
