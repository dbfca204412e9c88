/** What a waiting call says of itself, and how it may be answered. */
import type { Approval } from '@/api/types'
import { api } from '@/api/client'
import { doing } from '@/state/toasts'
import { refresh } from '@/state/approvals'
import { nameOf } from '@/state/fleet'
import { link } from '@/live/live'
import { brief } from './safe'

const VERBS: Record<string, string> = {
  Bash: 'wants to run a command', Write: 'wants to write a file', Edit: 'wants to change a file', MultiEdit: 'wants to change a file', Read: 'wants to read a file',
  WebFetch: 'wants to reach a site', WebSearch: 'wants to search the web', Task: 'wants to start an agent', Agent: 'wants to start an agent',
}
export const verb = (one: Approval): string => VERBS[one.tool] ?? `wants to use ${brief(one.tool, 40)}`
export const shortVerb = (one: Approval): string => verb(one).replace(/ (a command|a file|a site|the web|an agent)$/, '')

export const asker = (one: Approval): string => nameOf(one.session_id, { agent: one.agent_id, app: one.vendor ?? one.asked_by })

/** The line that matters: the command, the path, the address. */
export function subject(one: Approval): string {
  const input = (one.input ?? {}) as Record<string, unknown>
  for (const name of ['command', 'file_path', 'path', 'url', 'query', 'description', 'prompt']) {
    const value = input[name]
    if (typeof value === 'string' && value) return value
    if (Array.isArray(value) && value.every((part) => typeof part === 'string')) return value.join(' ')
  }
  return JSON.stringify(input)
}

const RISKS = ['low', 'medium', 'high', 'critical']
export const isWorse = (risk: string, than: string): boolean => RISKS.indexOf(risk) > RISKS.indexOf(than)
/** How bad one of its effects is; where only the call was judged, as bad as that. */
export const riskOf = (one: Approval, at: number): string => one.rulings[at]?.risk ?? one.risk
export const risksOf = (one: Approval): string[] => one.effects.map((_, at) => riskOf(one, at))

/** High and critical are read before they are allowed, and allowed by a held press. */
export const isGrave = (one: Approval): boolean => one.risk === 'high' || one.risk === 'critical'
/** No answer can be given while nobody would hear it. */
export const canAnswer = (): boolean => link.since === null

const delivered = (one: Approval): string => (one.delivered_at ? `${asker(one)} was told.` : `${asker(one)} is told as soon as it asks.`)

export async function allow(one: Approval, body: { scope?: 'once' | 'session' | 'always'; input?: Record<string, unknown>; reason?: string } = {}): Promise<Approval | undefined> {
  const answer = await doing(
    () => api.post('/api/v1/approvals/{id}/allow', { path: { id: one.id }, body: body as never }),
    (said) => `${body.input ? 'Allowed as edited' : body.scope === 'session' ? 'Allowed for the session' : 'Allowed once'}. ${delivered(said)}${said.warning ? ` ${said.warning}` : ''}`,
  )
  await refresh()
  return answer
}

export async function deny(one: Approval, reason?: string): Promise<Approval | undefined> {
  const answer = await doing(
    () => api.post('/api/v1/approvals/{id}/deny', { path: { id: one.id }, body: reason ? { reason } : {} }),
    (said) => `Denied. ${delivered(said)}`,
  )
  await refresh()
  return answer
}
