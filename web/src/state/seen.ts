/**
 * What belljar itself saw while a call went on, whatever its agent says: files by the kernel's own clock, what was used
 * by the control group's counters, commands it ran and what it wrote into the ledger.
 *
 * Owns: the stretch of time, and what cannot be known of it. Refuses: to guess. A process an agent starts is its agent's
 * child and not belljar's, so nobody but the agent tells how that one ended.
 */
import { api, send, url } from '@/api/client'
import type { Call, Event, Execution, Sandbox } from '@/api/types'
import { millis, stamp } from '@/lib/time'

/** The kernel's clock for files goes in ticks, and a hook is told a moment before and after. */
const SLACK = 25
/** What belljar does in its own name, and what the kernel made it do. */
const OWN = /^(limit\.|alert\.raised$|killswitch$|guardian\.(denied|asked)$|file\.|snapshot\.|execution\.)/
/** How an execution and its sandbox are named where a tool of belljar's own gives them back. */
const EXECUTION = /\bexe_[0-9a-f]{32}\b/
const SANDBOX = /\bsbx_[0-9a-f]{32}\b/

export interface SeenFile {
  path: string
  kind: string
  /** When the kernel last changed it; nothing where that is not known. */
  at: number | null
}
export interface SeenUse {
  cpuMillis: number | null
  memory: number | null
  processes: number | null
  received: number | null
  sent: number | null
}
export interface Seen {
  sandbox: Sandbox
  /** Files that changed last while it went on; nothing where they are not known. */
  files: readonly SeenFile[] | null
  /** Files that have changed since, so that nobody can say when before. */
  later: readonly SeenFile[]
  /** The measurements in that time; nothing where it was shorter than the time between two. */
  use: SeenUse | null
  /** A command of belljar's own that the call stands for. */
  execution: Execution | null
  events: readonly Event[]
}

interface Change {
  path: string
  kind: string
  changed_at: string | null
}

async function changesOf(sandbox: string, signal: AbortSignal): Promise<SeenFile[] | null> {
  try {
    const told = (await (await send(url('/api/v1/sandboxes/{id}/diff', { id: sandbox }, { format: 'json' }), { signal })).json()) as { files: Change[] }
    return told.files.filter((one) => !/(^|\/)\.git\//.test(one.path)).map((one) => ({ path: one.path, kind: one.kind, at: one.changed_at ? millis(one.changed_at) : null }))
  } catch {
    signal.throwIfAborted()
    return null
  }
}

async function useOf(sandbox: string, from: number, until: number, signal: AbortSignal): Promise<SeenUse | null> {
  const told = await api.get('/api/v1/sandboxes/{id}/history', { path: { id: sandbox }, query: { from: stamp(from), until: stamp(until), step_seconds: 1 }, signal }).catch(() => null)
  const points = told?.items ?? []
  const [first, last] = [points[0], points.at(-1)]
  if (!first || !last) return null
  const most = (of: (point: (typeof points)[number]) => number | null | undefined): number | null => {
    const known = points.flatMap((point) => of(point) ?? [])
    return known.length ? Math.max(...known) : null
  }
  const grown = (before: number | null | undefined, after: number | null | undefined): number | null => (before == null || after == null || points.length < 2 ? null : after - before)
  const cpu = grown(first.cpu_micros, last.cpu_micros)
  return {
    cpuMillis: cpu === null ? null : cpu / 1000,
    memory: most((point) => point.memory_max_bytes ?? point.memory_bytes),
    processes: most((point) => point.pids),
    received: grown(first.net_rx_bytes, last.net_rx_bytes),
    sent: grown(first.net_tx_bytes, last.net_tx_bytes),
  }
}

/** The command a tool of belljar's own ran for the call. */
async function executionOf(tool: string | null | undefined, output: string | null, signal: AbortSignal): Promise<Execution | null> {
  if (!tool?.startsWith('mcp__belljar')) return null
  const [exe, id] = [EXECUTION.exec(output ?? '')?.[0], SANDBOX.exec(output ?? '')?.[0]]
  if (!exe || !id) return null
  return api.get('/api/v1/sandboxes/{id}/executions/{exe}', { path: { id, exe }, signal }).catch(() => null)
}

/** What was seen of a call; nothing where there was nowhere to look: on the host, or nobody knows when it was. */
export async function seenOf(call: Call, output: string | null, signal: AbortSignal): Promise<Seen | null> {
  const execution = await executionOf(call.tool, output, signal)
  const id = call.sandbox_id ?? execution?.sandbox_id
  if (!id) return null
  const from = millis(call.began ?? call.received)
  const until = call.ended ? millis(call.ended) : call.outcome ? from + (call.duration_ms ?? 0) : Date.now()
  const sandbox = await api.get('/api/v1/sandboxes/{id}', { path: { id }, signal })
  const [changes, use, events] = await Promise.all([
    sandbox.state === 'destroyed' ? null : changesOf(id, signal),
    useOf(id, from, until, signal),
    api.get('/api/v1/events', { query: { sandbox_id: id, from: stamp(from), until: stamp(until + 1), limit: 200 }, signal }).catch(() => null),
  ])
  const timed = changes?.some((file) => file.at !== null) || changes?.length === 0
  return {
    sandbox,
    files: timed ? (changes ?? []).filter((file) => file.at !== null && file.at >= from - SLACK && file.at <= until + SLACK) : null,
    later: (changes ?? []).filter((file) => file.at === null || file.at > until + SLACK),
    use,
    execution,
    events: (events?.items ?? []).filter((event) => OWN.test(event.kind)).toReversed(),
  }
}
