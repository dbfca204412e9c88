/** A session as prose: prompts, what was said, calls that belong together folded into one line. */
import type { Call, Event, TraceItem } from '@/api/types'
import { millis } from '@/lib/time'

export type Part =
  | { kind: 'prompt'; id: string; at: number; text: string; number: number }
  | { kind: 'said'; id: string; at: number; text: string; agent: string | null }
  | { kind: 'calls'; id: string; at: number; calls: Call[]; agent: string | null }
  | { kind: 'note'; id: string; at: number; text: string; bad: boolean }

const READS = new Set(['Read', 'read_file', 'Grep', 'Glob', 'LS', 'search_file_content', 'WebFetch', 'WebSearch'])
const isRead = (call: Call): boolean => READS.has(call.tool ?? '') && call.outcome === 'success'

const word = (payload: unknown, name: string): string => {
  const value = (payload as Record<string, unknown> | null | undefined)?.[name]
  return typeof value === 'string' ? value : ''
}
const rest = (payload: unknown, name: string): string => word((payload as Record<string, unknown> | null | undefined)?.rest, name)

/** `said` are the events of messages, which a trace does not have. */
export function storyOf(trace: readonly TraceItem[], said: readonly Event[]): Part[] {
  const parts: Part[] = []
  const heard = new Set<string>()
  for (const event of said) {
    const text = word(event.payload, 'message') || rest(event.payload, 'delta')
    if (!text) continue
    heard.add(text)
    parts.push({ kind: 'said', id: event.id, at: millis(event.time), text, agent: word(event.payload, 'agent_id') || null })
  }
  let number = 0
  for (const item of trace) {
    if (item.type === 'call') {
      if (!item.agent_id) parts.push({ kind: 'calls', id: item.id, at: millis(item.began ?? item.received), calls: [item], agent: null })
      continue
    }
    if (item.type !== 'event') continue
    const at = millis(item.time)
    const helper = word(item.payload, 'agent_id')
    if (item.kind === 'prompt.submitted') parts.push({ kind: 'prompt', id: item.id, at, text: word(item.payload, 'prompt'), number: ++number })
    else if (item.kind === 'turn.ended' && !helper) {
      const text = word(item.payload, 'message')
      if (text && !heard.has(text)) parts.push({ kind: 'said', id: item.id, at, text, agent: null })
    } else if (item.kind === 'context.compacted') parts.push({ kind: 'note', id: item.id, at, text: 'Context compacted', bad: false })
    else if (item.kind === 'turn.failed' || item.kind === 'model.failed') parts.push({ kind: 'note', id: item.id, at, text: item.error ?? 'The turn broke off', bad: true })
    else if (item.kind === 'session.ended') parts.push({ kind: 'note', id: item.id, at, text: 'Session ended', bad: false })
  }
  parts.sort((a, b) => a.at - b.at)
  return joined(parts)
}

/** Reads in a row are one line; nobody reads six of them. */
function joined(parts: Part[]): Part[] {
  const out: Part[] = []
  for (const part of parts) {
    const last = out.at(-1)
    if (part.kind === 'calls' && last?.kind === 'calls' && part.calls.every(isRead) && last.calls.every(isRead)) last.calls.push(...part.calls)
    else out.push(part)
  }
  return out
}

/** The place of the last at or before a moment, in what is in order; before all of it there is none. */
export function before(parts: readonly { at: number }[], moment: number): number {
  let [low, high] = [0, parts.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((parts[middle]?.at ?? Infinity) <= moment) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** Text with `code` in it, cut into what is code and what is not. */
export const pieces = (text: string): { code: boolean; text: string }[] => text.split(/(`[^`\n]+`)/).filter(Boolean).map((piece) => (/^`[^`]+`$/.test(piece) ? { code: true, text: piece.slice(1, -1) } : { code: false, text: piece }))

/** What files were changed, and by how much, as far as calls tell. */
export function filesOf(calls: readonly Call[], inputs: (call: Call) => Record<string, unknown> | null): { path: string; added: number; removed: number }[] {
  const files = new Map<string, { path: string; added: number; removed: number }>()
  const lines = (value: unknown): number => (typeof value === 'string' && value ? value.replace(/\n$/, '').split('\n').length : 0)
  for (const call of calls) {
    if (call.outcome !== 'success') continue
    const input = inputs(call)
    const path = input?.file_path
    if (typeof path !== 'string' || !('content' in input! || 'new_string' in input!)) continue
    const known = files.get(path) ?? { path, added: 0, removed: 0 }
    known.added += lines(input?.new_string ?? input?.content)
    known.removed += lines(input?.old_string)
    files.set(path, known)
  }
  return [...files.values()]
}

/** The session as Markdown, for whoever reads it elsewhere. */
export function markdown(title: string, name: string, parts: readonly Part[], line: (call: Call) => string): string {
  const out = [`# ${title}`, '']
  for (const part of parts) {
    if (part.kind === 'prompt') out.push(`## ${part.number}. ${part.text}`, '')
    else if (part.kind === 'said') out.push(`**${part.agent ?? name}:** ${part.text}`, '')
    else if (part.kind === 'note') out.push(`*${part.text}*`, '')
    else out.push(...part.calls.map((call) => `- \`${(call.tool ?? 'call').replaceAll('`', "'")}\` ${line(call).replaceAll('\n', ' ')} (${call.outcome ?? 'goes on'})`), '')
  }
  return out.join('\n')
}
