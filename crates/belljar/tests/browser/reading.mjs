// A session longer than any page of the API: nothing of it is missing, and only what is in sight is laid out.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { ask, fits, hook, over, person, until } from './person.mjs'

const id = 'long-1'
const CALLS = 1300
await hook(id, 'SessionStart', { source: 'startup' })
await hook(id, 'UserPromptSubmit', { prompt: 'Count for a long time' })
const call = async (number) => {
  const fields = { tool_name: 'Bash', tool_use_id: `n${number}`, tool_input: { command: `seq ${number}` } }
  await hook(id, 'PreToolUse', fields)
  await hook(id, 'PostToolUse', { ...fields, tool_response: { stdout: String(number), stderr: '' } })
}
await call(0)
for (let at = 1; at < CALLS - 1; at += 16) await Promise.all(Array.from({ length: Math.min(16, CALLS - 1 - at) }, (_, by) => call(at + by)))
await call(CALLS - 1)
assert.ok((await ask('GET', `/api/v1/sessions/${id}/trace?limit=1000`)).next_cursor, 'one page has all of it')

const page = await person()
await page.goto(new URL(`/sessions/${id}`, page.url()).href)
// It opens at its end; its beginning is a button away, or a prompt.
await page.getByText(`seq ${CALLS - 1}`, { exact: true }).waitFor()
await page.getByRole('button', { name: /^Earlier: / }).waitFor()
assert.ok((await page.locator('.cc').count()) <= 300)
await page.getByRole('navigation', { name: 'Prompts' }).getByText('Count for a long time').click()
await page.getByText('seq 0', { exact: true }).waitFor()
const [kept] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export as Markdown' }).click()])
const text = readFileSync(await kept.path(), 'utf8')
for (const number of [0, 700, CALLS - 1]) assert.ok(text.includes(`\`Bash\` seq ${number} (success)`), `call ${number} is not in the export`)

// Its first page is shown while the others are still on their way.
let hold = true
await page.route(/\/trace\?.*cursor=/, async (route) => {
  while (hold) await new Promise((resume) => setTimeout(resume, 50))
  await route.continue()
})
await page.goto(new URL(`/sessions/${id}/trace`, page.url()).href)
await page.getByText('seq 0', { exact: true }).waitFor()
await page.getByRole('status').filter({ hasText: 'reading on' }).waitFor()
hold = false
await page.getByRole('status').filter({ hasText: 'reading on' }).waitFor({ state: 'detached' })
await page.unroute(/\/trace\?.*cursor=/)
assert.ok((await page.getByRole('row').count()) < 120, 'more is laid out than can be seen')
// As far down as it goes, and quickly. How quickly is measured elsewhere: here others work on the same machine.
const slow = await page.evaluate(async () => {
  const list = document.querySelector('.rows')
  const frames = []
  let last = performance.now()
  for (let at = 0; at <= 60; at++) {
    list.scrollTop = (list.scrollHeight / 60) * at
    await new Promise(requestAnimationFrame)
    frames.push(performance.now() - last)
    last = performance.now()
  }
  return frames.toSorted((a, b) => a - b)[frames.length >> 1]
})
assert.ok(slow < 250, `half of the frames take ${slow} ms or more`)
await page.getByText(`seq ${CALLS - 1}`, { exact: true }).waitFor()
await fits(page, 'a long trace')

// The list of events goes on as far as one scrolls, though scrolling pauses it; a call cut by a page has one row.
await page.goto(new URL('/events?range=1h', page.url()).href)
const list = page.getByRole('list', { name: 'Events' })
await list.getByText(`seq ${CALLS - 1}`, { exact: true }).waitFor()
const first = list.getByText('seq 0', { exact: true })
await until(async () => {
  await list.evaluate((rows) => rows.scrollTo(0, rows.scrollHeight))
  return first.isVisible()
})
assert.equal(await first.count(), 1)
const rows = (await list.evaluate((all) => all.scrollHeight)) / (await list.getByRole('listitem').first().evaluate((row) => row.getBoundingClientRect().height))
assert.ok(rows >= CALLS && rows < CALLS + 20, `${CALLS} calls have ${rows} rows`)
assert.equal(await list.getByText('waits', { exact: true }).count(), 0)
await over()
