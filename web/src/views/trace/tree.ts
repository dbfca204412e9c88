/** A session as a tree: turns, in them requests and calls, below a call the helper it started. */
import type { Call, ModelRequest, TraceItem } from '@/api/types'
import { callText, toolName } from '@/lib/lines'
import { millis } from '@/lib/time'

export interface Node {
  id: string
  kind: 'turn' | 'request' | 'call' | 'helper'
  label: string
  detail: string
  from: number
  until: number
  depth: number
  cost: number | null
  tokens: number | null
  bad: 'failed' | 'denied' | null
  open: boolean
  target: string
  children: Node[]
}

const tokensOf = (request: ModelRequest): number => {
  const { input, output, cache_read, cache_write_5m, cache_write_1h } = request.tokens
  return input + output + cache_read + cache_write_5m + cache_write_1h
}

/** What goes on has an end that is not known yet: `until` is its beginning, and `open` says so. */
export function treeOf(trace: readonly TraceItem[], cwd: string | null): Node[] {
  const turns: Node[] = []
  const helpers = new Map<string, Node>()
  /** The calls helpers were started by, whichever is told first. */
  const starters = new Map<string, Node>()
  const node = (part: Partial<Node> & Pick<Node, 'id' | 'kind' | 'label' | 'from' | 'until'>): Node => ({ detail: '', depth: 0, cost: null, tokens: null, bad: null, open: false, target: '', children: [], ...part })
  const turn = (at: number): Node => {
    const known = turns.at(-1)
    if (known) return known
    const first = node({ id: 'before', kind: 'turn', label: 'Before the first prompt', from: at, until: at })
    turns.push(first)
    return first
  }
  const into = (agent: string | null | undefined, at: number): Node => (agent ? (helpers.get(agent) ?? turn(at)) : turn(at))
  const ofCall = (call: Call): Node => {
    const from = millis(call.began ?? call.received)
    // What its program measured is what it took; from word to word there is the way of the words as well.
    const until = call.duration_ms != null ? from + call.duration_ms : call.ended ? millis(call.ended) : from
    return node({ id: call.id, kind: 'call', label: call.tool ? toolName(call.tool) : 'call', detail: callText(call, cwd), from, until, cost: call.cost_usd ?? null, bad: call.outcome === 'denied' ? 'denied' : call.outcome === 'failure' || call.outcome === 'timeout' ? 'failed' : null, open: !call.outcome, target: `call:${call.id}` })
  }
  for (const item of trace) {
    if (item.type === 'event') {
      const at = millis(item.time)
      const said = item.payload as Record<string, unknown> | undefined
      if (item.kind === 'prompt.submitted') turns.push(node({ id: `t${item.seq}`, kind: 'turn', label: String(said?.prompt ?? 'Prompt'), from: at, until: at, target: `event:${item.seq}` }))
      else if (item.kind === 'agent.started' && typeof said?.agent_id === 'string' && !helpers.has(said.agent_id)) {
        const helper = node({ id: `a${item.seq}`, kind: 'helper', label: said.agent_id, detail: String(said.agent_type ?? ''), from: at, until: at, target: `event:${item.seq}` })
        helpers.set(said.agent_id, helper)
        ;(starters.get(said.agent_id) ?? turn(at)).children.push(helper)
      }
    } else if (item.type === 'request') {
      const until = millis(item.time)
      into(item.agent_id, until).children.push(node({ id: `m${item.id}`, kind: 'request', label: item.model, detail: '', from: until - (item.duration_ms ?? 0), until, cost: item.cost_usd, tokens: tokensOf(item) }))
    } else {
      const made = ofCall(item)
      into(item.agent_id, made.from).children.push(made)
      if (item.started_agent_id) starters.set(item.started_agent_id, made)
      const helper = item.started_agent_id ? helpers.get(item.started_agent_id) : undefined
      if (helper) {
        turns.forEach((one) => (one.children = one.children.filter((child) => child !== helper)))
        made.children.push(helper)
      }
    }
  }
  turns.forEach((one) => settle(one, 0))
  return turns.filter((one) => one.id !== 'before' || one.children.length > 0)
}

/** Gives depths, and to what has parts the span and the sum of them. A call's own cost is its share of a request that is counted already. */
function settle(node: Node, depth: number): void {
  node.depth = depth
  node.children.sort((a, b) => a.from - b.from)
  node.children.forEach((child) => settle(child, depth + 1))
  if (node.kind !== 'turn' && node.kind !== 'helper') return
  for (const child of node.children) {
    node.from = Math.min(node.from, child.from)
    node.until = Math.max(node.until, child.until)
  }
  const parts = everything(node).filter((part) => part.kind === 'request')
  node.cost = parts.reduce((sum, part) => sum + (part.cost ?? 0), 0)
  node.tokens = parts.reduce((sum, part) => sum + (part.tokens ?? 0), 0)
  node.open = node.children.some((child) => child.open)
}

export const everything = (node: Node): Node[] => [node, ...node.children.flatMap(everything)]
