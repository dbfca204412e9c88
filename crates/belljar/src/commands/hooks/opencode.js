// Written by `belljar hooks install --agent opencode`, removed by `belljar hooks uninstall --agent opencode`.
// Tells belljar what happens in a session, and lets it stop a tool before it runs.
import { spawn } from "node:child_process"

const PROGRAM = "@PROGRAM@"
const PINNED = ["@PINNED@"]
const TOLD = new Set([
  "session.created",
  "session.deleted",
  "session.idle",
  "session.error",
  "session.compacted",
])

// A hook that fails must not hurt the session: no answer is no opinion.
function tell(payload) {
  return new Promise((resolve) => {
    let answer = ""
    const words = ["hook", "--agent", "opencode", "--wait", "600", ...PINNED]
    const child = spawn(PROGRAM, words, { stdio: ["pipe", "pipe", "ignore"] })
    child.on("error", () => resolve({}))
    child.stdout.on("data", (piece) => (answer += piece))
    child.on("close", (code) => {
      if (code === 2) return resolve({ decision: "deny", reason: "denied by belljar" })
      try {
        resolve(answer ? JSON.parse(answer) : {})
      } catch {
        resolve({})
      }
    })
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(payload))
  })
}

const spoken = (parts) => (parts ?? []).filter((part) => part.type === "text").map((part) => part.text).join("\n")

export const Belljar = async ({ directory }) => {
  const say = (name, input, more) => tell({ ...input, ...more, hook_event_name: name, cwd: directory })
  const counted = new Set()
  // What an answer cost is told once, when it is whole.
  const isNews = ({ type, properties }) => {
    const { info } = properties ?? {}
    if (type !== "message.updated" || info?.role !== "assistant" || !info.time?.completed) return TOLD.has(type)
    return !counted.has(info.id) && counted.add(info.id)
  }
  return {
    event: async ({ event }) => {
      const { sessionID, info } = event.properties ?? {}
      if (isNews(event)) await tell({ ...event, sessionID: sessionID ?? info?.sessionID ?? info?.id, cwd: directory })
    },
    "chat.message": async (input, output) => {
      await say("chat.message", input, { prompt: spoken(output.parts) })
    },
    "permission.ask": async (input, output) => {
      const answer = await say("permission.ask", input, {})
      if (answer.decision === "allow" || answer.decision === "deny") output.status = answer.decision
    },
    "tool.execute.before": async (input, output) => {
      const answer = await say("tool.execute.before", input, { args: output.args })
      if (answer.decision === "deny") throw new Error(answer.reason)
      if (answer.decision === "allow" && answer.input) {
        for (const name of Object.keys(output.args)) delete output.args[name]
        Object.assign(output.args, answer.input)
      }
    },
    "tool.execute.after": async (input, output) => {
      const { title, metadata } = output
      await say("tool.execute.after", input, { title, metadata, output: output.output })
    },
  }
}
