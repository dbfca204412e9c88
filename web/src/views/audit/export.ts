/** The ledger as a file: read page by page, written piece by piece, so that its length is bound by the disk and not by the page. */
import { api, type Schemas } from '@/api/client'

export type Entry = Schemas['AuditEntry']
export type Form = 'csv' | 'jsonl'

function cell(value: unknown): string {
  const text = value == null ? '' : String(value)
  // A spreadsheet must not take what an agent wrote for a formula.
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}
const HEAD = 'timestamp,agent,operation,target,decision,reason,audit_id'
const line = (entry: Entry, form: Form): string =>
  form === 'jsonl' ? JSON.stringify(entry) : [entry.timestamp, entry.agent.id, entry.operation.detail, entry.target.resource, entry.rbac.decision, entry.rbac.reason, entry.audit_id].map(cell).join(',')

/** Reads all that fits the query, tells how many there are so far, and hands it over as a file. */
export async function exported(query: Record<string, string | number>, form: Form, signal: AbortSignal, told: (count: number) => void): Promise<number> {
  const parts: Blob[] = form === 'csv' ? [new Blob([`${HEAD}\n`])] : []
  let count = 0
  let cursor: string | null = null
  do {
    const page: Schemas['Page_AuditEntry'] = await api.get('/api/v1/events/audit', { query: { ...query, limit: 1000, ...(cursor ? { cursor } : {}) }, signal })
    if (page.items.length) parts.push(new Blob([`${page.items.map((entry) => line(entry, form)).join('\n')}\n`]))
    count += page.items.length
    told(count)
    cursor = page.next_cursor ?? null
  } while (cursor && !signal.aborted)
  if (signal.aborted) return count
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob(parts, { type: form === 'csv' ? 'text/csv' : 'application/x-ndjson' }))
  link.download = `audit.${form}`
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
  return count
}
