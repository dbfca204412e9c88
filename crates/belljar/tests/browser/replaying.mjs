// The timeline: a drag selects time, other ways pan and zoom, and what happened at the playhead is told while it is replayed.
import assert from 'node:assert/strict'
import { accessible, fits, hook, over, person, PHONE } from './person.mjs'

const pause = (ms) => new Promise((resume) => setTimeout(resume, ms))
/** Who works elsewhere is somebody else. */
const tell = (session, event, fields) => hook(session, event, { cwd: `/${session}`, ...fields })
async function did(session, id, command, output) {
  const call = { tool_name: 'Bash', tool_use_id: id, tool_input: { command } }
  await tell(session, 'PreToolUse', call)
  await pause(400)
  await tell(session, 'PostToolUse', { ...call, tool_response: { stdout: output, stderr: '' } })
}
for (const name of ['replayed-1', 'replayed-2']) {
  await tell(name, 'SessionStart', { source: 'startup', model: 'claude-opus-4-5' })
  await tell(name, 'UserPromptSubmit', { prompt: `Work as ${name}` })
  await did(name, `${name}-a`, `make ${name}`, `${name} was made`)
  await pause(300)
  await did(name, `${name}-b`, `test ${name}`, `${name} <b>was</b> tested \u202e`)
}

const page = await person()
await page.goto(new URL('/timeline?range=5m', page.url()).href)
const board = page.locator('.board canvas')
await board.waitFor()
const seen = () => (new URL(page.url()).searchParams.get('z') ?? '').split('-').map(Number)
/** The address follows what moves a moment later. */
const moves = async (act) => {
  const before = page.url()
  await act()
  await page.waitForFunction((was) => location.href !== was, before)
  return seen()
}
const box = await board.boundingBox()
async function drag(from, to) {
  await page.mouse.move(box.x + from, box.y + 20)
  await page.mouse.down()
  await page.mouse.move(box.x + (from + to) / 2, box.y + 24, { steps: 3 })
  await page.mouse.move(box.x + to, box.y + 24, { steps: 3 })
  await page.mouse.up()
}

// A drag selects; going back undoes it.
const chosen = await moves(() => drag(box.width * 0.5, box.width * 0.9))
assert.ok(chosen[1] > chosen[0])
await page.goBack()
assert.deepEqual(seen(), [0])
// Escape forgets what was begun.
await page.mouse.move(box.x + 300, box.y + 20)
await page.mouse.down()
await page.mouse.move(box.x + 420, box.y + 20, { steps: 4 })
await page.keyboard.press('Escape')
await page.mouse.up()
await pause(400)
assert.deepEqual(seen(), [0])

// Shift and drag, the wheel and the arrows pan: as much is seen as before, elsewhere.
const [first, last] = await moves(() => drag(box.width * 0.5, box.width * 0.9))
const long = last - first
const panned = await moves(async () => {
  await page.keyboard.down('Shift')
  await drag(box.width * 0.4, box.width * 0.5)
  await page.keyboard.up('Shift')
})
assert.ok(panned[0] < first && Math.abs(panned[1] - panned[0] - long) < long * 0.05, `${panned}`)
const wheeled = await moves(() => page.mouse.wheel(0, 60))
assert.ok(wheeled[0] > panned[0], `${wheeled}`)
const arrowed = await moves(() => page.keyboard.press('ArrowLeft'))
assert.ok(arrowed[0] < wheeled[0], `${arrowed}`)
const nearer = await moves(() => page.keyboard.press('w'))
assert.ok(nearer[1] - nearer[0] < long)

// What is seen here becomes what every view is about.
await page.getByRole('button', { name: 'Use this range' }).click()
const { searchParams } = new URL(page.url())
assert.ok(Math.abs(Date.parse(searchParams.get('from')) - nearer[0]) <= 1 && !searchParams.has('z') && !searchParams.has('range'), page.url())
await page.goto(new URL('/timeline?range=5m', page.url()).href)
await board.waitFor()

// Before anything was chosen the playhead goes back from call to call, and each tells what it was and gave.
const moment = page.getByRole('region', { name: 'At the playhead' })
assert.equal(await moment.count(), 0)
await page.keyboard.press(',')
await moment.getByText('test replayed-2').first().waitFor()
await moment.getByText('at the playhead').waitFor()
await moment.getByText('It goes on.').waitFor()
await accessible(page, 'a timeline at the playhead')
await page.keyboard.press(',')
await moment.getByText('make replayed-2').first().waitFor()
// Somebody else is followed; by then the last call was over, and what it wrote is harmless.
await moment.getByRole('combobox', { name: 'Agent' }).selectOption({ index: 0 })
await moment.getByText('replayed-1 <b>was</b> tested ⟨RLO⟩').waitFor()
assert.equal(await moment.locator('b').count(), 0)
// Played on, it comes to now by itself.
await page.getByRole('button', { name: '20×' }).click()
await page.keyboard.press('p')
await moment.waitFor({ state: 'detached' })
await page.waitForFunction(() => !new URLSearchParams(location.search).has('at'))

// The help knows the keys.
await page.keyboard.press('?')
await page.getByRole('dialog', { name: 'Keys' }).getByText('select a stretch of time').waitFor()
await page.keyboard.press('Escape')

const phone = await person({ size: PHONE, theme: 'light' })
await phone.goto(new URL(`/timeline?range=5m&at=${Date.now() - 1000}`, page.url()).href)
await phone.getByRole('region', { name: 'At the playhead' }).waitFor()
await fits(phone, 'a timeline at the playhead')
await accessible(phone, 'a timeline at the playhead, on a phone')
await over()
