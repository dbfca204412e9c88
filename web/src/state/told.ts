/** A call as its own agent told it, in full: the record has the beginning of what it was given, the events have all of it. */
import { api } from '@/api/client'
import type { Call } from '@/api/types'
import { replaced } from '@/lib/diff'
import { callInput } from '@/lib/lines'

export interface ToldCall {
  call: Call
  /** All it was given. */
  input: unknown
  /** What it gave back; nothing where nobody told. */
  output: string | null
  /** What it says it changed. */
  patch: string | null
  /** The exit code it speaks of. */
  exit: number | null
}

/** A text that is this part of an answer stands for it. */
const MOSTLY = 0.5

export const written = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 2)) ?? ''

function outputOf(answer: unknown): string | null {
  if (answer === undefined || answer === null) return null
  const { stdout, stderr } = answer as { stdout?: unknown; stderr?: unknown }
  if (typeof stdout === 'string') return [stdout, stderr].filter(Boolean).join('\n')
  const whole = written(answer)
  // Most answers are one text in a wrapping of each program's own: the text is what one wants to read.
  const text = longest(answer)
  return text.length > whole.length * MOSTLY ? text : whole
}

/** The longest text in a value. */
function longest(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null) return ''
  return Object.values(value).map(longest).reduce((best, text) => (text.length > best.length ? text : best), '')
}

function patchOf(call: Call, input: unknown): string | null {
  const given = input as Record<string, unknown> | null
  const path = (given?.file_path as string | undefined) ?? call.target ?? ''
  if (typeof given?.old_string === 'string' && typeof given.new_string === 'string') return replaced(path, given.old_string, given.new_string)
  return call.tool === 'Write' && typeof given?.content === 'string' ? replaced(path, '', given.content) : null
}

/** Agents' programs say how a command ended in words, where it did not end well. */
function exitOf(call: Call): number | null {
  if (call.target_type !== 'command' || !call.outcome || call.outcome === 'denied') return null
  if (call.outcome === 'success') return 0
  const code = /\bexit (?:code|status) (\d{1,3})\b/i.exec(call.error ?? '')?.[1]
  return code === undefined ? null : Number(code)
}

export async function toldOf(id: string, signal: AbortSignal): Promise<ToldCall> {
  const call = await api.get('/api/v1/calls/{id}', { path: { id }, signal })
  const query = call.tool_use_id ? { tool_use_id: call.tool_use_id, limit: 20 } : null
  const page = query ? await api.get('/api/v1/events', { query, signal }).catch(() => null) : null
  const payloads = (page?.items ?? []).map((event) => (event.payload ?? {}) as Record<string, unknown>)
  const input = payloads.find((payload) => payload.tool_input !== undefined)?.tool_input ?? callInput(call)
  const answer = payloads.map((payload) => payload.tool_response ?? payload.tool_output).find((value) => value !== undefined)
  return { call, input, output: outputOf(answer) ?? call.error ?? null, patch: patchOf(call, input), exit: exitOf(call) }
}
