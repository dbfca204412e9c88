/** What a timeline shows: a lane per agent, under the one it works for; bars, marks and who started whom. */
import type { Approval, Call, ModelRequest, Session, TraceItem } from '@/api/types'
import { callText, toolName } from '@/lib/lines'
import { millis } from '@/lib/time'

export type BarKind = 'call' | 'model' | 'wait'
export interface Bar {
  id: string
  kind: BarKind
  from: number
  /** Not over yet. */
  until: number | null
  label: string
  state: 'good' | 'failed' | 'open'
  /** What is selected with it. */
  target: string
}
export interface Mark {
  kind: 'prompt' | 'compaction' | 'denied'
  at: number
  label: string
  target: string
}
export interface Spawn {
  from: string
  at: number
  back: number | null
}
export interface Lane {
  key: string
  session: Session
  /** Whose colour it has: a helper has its agent's. */
  hue: string
  name: string
  task: string
  sealed: boolean
  depth: number
  bars: Bar[]
  marks: Mark[]
  /** Who started it, and when; when it gave its answer. */
  spawn: Spawn | null
  /** Every time it was started, when several sessions are one lane. */
  spawns: (Spawn & { first: number })[]
}

const laneKey = (session: string, agent: string | null | undefined): string => (agent ? `${session}/${agent}` : session)
const word = (payload: unknown, name: string): string => {
  const value = (payload as Record<string, unknown> | null | undefined)?.[name]
  return typeof value === 'string' ? value : ''
}

const ofCall = (call: Call): Bar => {
  const from = millis(call.began ?? call.received)
  const until = call.ended ? millis(call.ended) : call.outcome ? from + (call.duration_ms ?? 0) : null
  const isShell = call.target_type === 'command'
  const about = callText(call)
  return {
    id: call.id,
    kind: 'call',
    from,
    until,
    label: isShell || call.started_agent_id || call.tool === 'Agent' || call.tool === 'Task' ? about : `${call.tool ? toolName(call.tool) : 'call'} ${about.split('/').at(-1) ?? ''}`.trim(),
    state: call.outcome === 'failure' || call.outcome === 'timeout' ? 'failed' : call.outcome ? 'good' : 'open',
    target: `call:${call.id}`,
  }
}

const ofRequest = (request: ModelRequest): Bar => {
  const until = millis(request.time)
  return { id: `m${request.id}`, kind: 'model', from: until - (request.duration_ms ?? 0), until, label: request.model, state: 'good', target: '' }
}

/** The lanes of one session, its own agent first. */
export function lanesOf(session: Session, name: string, trace: readonly TraceItem[], approvals: readonly Approval[]): Lane[] {
  const lanes = new Map<string, Lane>()
  const lane = (agent: string | null | undefined): Lane => {
    const key = laneKey(session.session_id, agent)
    let known = lanes.get(key)
    if (!known) {
      known = { key, session, hue: session.session_id, name: agent || name, task: agent ? '' : (session.title ?? ''), sealed: !!session.sandbox_id, depth: agent ? 1 : 0, bars: [], marks: [], spawn: null, spawns: [] }
      lanes.set(key, known)
    }
    return known
  }
  const own = lane(null)
  for (const item of trace) {
    if (item.type === 'call') {
      const on = lane(item.agent_id)
      if (item.outcome === 'denied') on.marks.push({ kind: 'denied', at: millis(item.began ?? item.received), label: callText(item), target: `call:${item.id}` })
      else if (item.decision !== 'ask' || item.outcome) on.bars.push(ofCall(item))
      if (item.started_agent_id) {
        const child = lane(item.started_agent_id)
        child.task = callText(item)
        child.spawn = { from: on.key, at: millis(item.began ?? item.received), back: item.ended ? millis(item.ended) : null }
      }
    } else if (item.type === 'request') {
      lane(item.agent_id).bars.push(ofRequest(item))
    } else {
      const helper = word(item.payload, 'agent_id')
      const at = millis(item.time)
      if (item.kind === 'prompt.submitted') own.marks.push({ kind: 'prompt', at, label: word(item.payload, 'prompt'), target: `event:${item.seq}` })
      else if (item.kind === 'context.compacted') lane(helper).marks.push({ kind: 'compaction', at, label: 'context compacted', target: `event:${item.seq}` })
      else if (item.kind === 'agent.started' && helper) {
        const child = lane(helper)
        child.task ||= word(item.payload, 'agent_type')
        child.spawn ??= { from: own.key, at, back: null }
      } else if (item.kind === 'agent.stopped' && helper) {
        const child = lane(helper)
        if (child.spawn) child.spawn.back ??= at
      }
    }
  }
  for (const one of approvals) {
    if (one.session_id !== session.session_id) continue
    const input = one.input as Record<string, unknown>
    const what = typeof input?.command === 'string' ? input.command : one.tool
    const until = one.state === 'pending' ? null : millis(one.answered_at ?? one.expires_at)
    // A no comes at the end of waiting for it, not where the call was made.
    const refused = until === null ? undefined : own.marks.find((mark) => mark.kind === 'denied' && Math.abs(mark.at - millis(one.created_at)) < 2000)
    if (refused && until !== null) refused.at = until
    own.bars.push({ id: one.id, kind: 'wait', from: millis(one.created_at), until, label: one.state === 'pending' ? `waits for you: ${what}` : `waited: ${what}`, state: 'open', target: `approval:${one.id}` })
  }
  return [...lanes.values()]
}

/** Sessions of one agent are one lane: it is the agent that is followed. Those that have no name stay by themselves. */
export function merged(lanes: readonly Lane[], isNamed: (lane: Lane) => boolean): Lane[] {
  const out = new Map<string, Lane>()
  for (const lane of lanes) {
    const root = lane.depth ? lane.spawn?.from.split('/')[0] : lane.key
    const owner = lanes.find((one) => one.key === root) ?? lane
    const key = isNamed(owner) ? (lane.depth ? `${owner.name}/${lane.name}` : owner.name) : lane.key
    const parent = isNamed(owner) ? owner.name : owner.key
    const spawns = lane.spawn ? [{ ...lane.spawn, from: parent, first: Math.min(...lane.bars.map((bar) => bar.from), Infinity) }] : []
    const known = out.get(key)
    if (!known) out.set(key, { ...lane, key, bars: [...lane.bars], marks: [...lane.marks], spawns })
    else {
      known.bars.push(...lane.bars)
      known.marks.push(...lane.marks)
      known.spawns.push(...spawns)
      if (lane.session.last > known.session.last) Object.assign(known, { session: lane.session, task: lane.task || known.task, hue: lane.hue })
    }
  }
  // Helpers stand below whoever they work for.
  const all = [...out.values()]
  return all.filter((lane) => !lane.depth).flatMap((lane) => [lane, ...all.filter((one) => one.depth && one.spawns[0]?.from === lane.key), ...[]])
}

/** The first and last moment of all that is shown. */
export function extent(lanes: readonly Lane[], now: number): [number, number] {
  let [first, last] = [Infinity, -Infinity]
  for (const lane of lanes) {
    for (const bar of lane.bars) {
      first = Math.min(first, bar.from)
      last = Math.max(last, bar.until ?? now)
    }
    for (const mark of lane.marks) {
      first = Math.min(first, mark.at)
      last = Math.max(last, mark.at)
    }
  }
  return first < last ? [first, last] : [now - 60_000, now]
}
