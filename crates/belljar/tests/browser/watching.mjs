// Logs in by the printed link, watches a session arrive live, filters, inspects, leaves and comes back by the address.
import assert from 'node:assert/strict'
import { accessible, ask, hook, login, over, person } from './person.mjs'

const page = await person()
assert.equal(new URL(page.url()).pathname, '/')
await page.getByText('Nothing under').waitFor()
await page.getByText('Listening for the first event').waitFor()
await accessible(page, 'an empty fleet')

// The link worked once.
assert.equal((await fetch(login, { redirect: 'manual' })).status, 401)

const id = 'watched-1'
await hook(id, 'SessionStart', { source: 'startup', model: 'claude-opus-4-5' })
await hook(id, 'UserPromptSubmit', { prompt: 'Fix the flaky retry test' })
await hook(id, 'PreToolUse', { tool_name: 'Bash', tool_use_id: 't1', tool_input: { command: 'cargo test -p billing' } })
const card = page.locator('.acard', { hasText: 'Fix the flaky retry test' })
await card.getByText('cargo test -p billing').waitFor()

await page.getByRole('link', { name: 'Events', exact: true }).filter({ visible: true }).click()
const row = page.getByRole('listitem').filter({ hasText: 'cargo test -p billing' })
await row.waitFor()
assert.equal(await row.count(), 1)
// While it goes on its time ticks; when it ended, the same row says so.
await hook(id, 'PostToolUse', { tool_name: 'Bash', tool_use_id: 't1', tool_input: { command: 'cargo test -p billing' }, tool_response: { stdout: 'ok', stderr: '' } })
await row.getByText(/\d B/).waitFor()
assert.equal(await row.count(), 1)

await hook(id, 'PreToolUse', { tool_name: 'Bash', tool_use_id: 't2', tool_input: { command: 'rm -rf / --no-preserve-root' } })
const denied = page.getByRole('listitem').filter({ hasText: 'rm -rf /' })
await denied.getByText('Deny', { exact: true }).waitFor()
await page.getByRole('button', { name: /^Denied/ }).click()
await row.waitFor({ state: 'detached' })
assert.equal(new URL(page.url()).searchParams.get('show'), 'denied')

await denied.getByRole('button').click()
const inspector = page.getByRole('complementary', { name: 'Inspector' })
await inspector.getByText('would delete').first().waitFor()
await accessible(page, 'events with the inspector')
// Everything is in the address.
await page.reload()
await inspector.getByText('would delete').first().waitFor()
assert.equal(await row.count(), 0)
await page.keyboard.press('Escape')
await inspector.waitFor({ state: 'detached' })

// Paused, new things are counted and not shown.
await page.getByRole('button', { name: 'All', exact: true }).click()
await row.waitFor()
// On a button Space presses that button; elsewhere it pauses.
await page.getByRole('heading', { name: 'Events', exact: true }).click()
await page.keyboard.press('Space')
await page.getByRole('button', { name: /Paused/ }).waitFor()
await hook(id, 'PreToolUse', { tool_name: 'Read', tool_use_id: 't3', tool_input: { file_path: '/w/later.txt' } })
await page.getByRole('button', { name: /\d+ new/ }).filter({ visible: true }).first().waitFor()
const later = page.getByRole('listitem').filter({ hasText: 'later.txt' })
assert.equal(await later.count(), 0)
await page.keyboard.press('Space')
await later.waitFor()

// Words are looked for by the server, across everything.
await page.keyboard.press('Control+k')
await page.getByRole('combobox').fill('flaky')
await page.getByRole('option', { name: /Fix the flaky retry test/ }).first().waitFor()
await accessible(page, 'the palette')
await page.keyboard.press('Escape')

// Behind for a while, nothing is missed: the socket is cut, things happen, the page catches up without a reload.
const mark = await page.evaluate(() => (globalThis.unreloaded = true))
assert.ok(mark)
await page.context().setOffline(true)
await page.evaluate(() => dispatchEvent(new Event('offline')))
await hook(id, 'PreToolUse', { tool_name: 'Read', tool_use_id: 't4', tool_input: { file_path: '/w/missed.txt' } })
await page.context().setOffline(false)
await page.evaluate(() => dispatchEvent(new Event('online')))
await page.getByRole('listitem').filter({ hasText: 'missed.txt' }).waitFor()
assert.equal(await page.evaluate(() => globalThis.unreloaded), true)

// The way back leads where one was, with what was chosen there.
await page.getByRole('button', { name: /^Denied/ }).click()
await row.waitFor({ state: 'detached' })
await page.getByRole('link', { name: 'Fleet', exact: true }).filter({ visible: true }).click()
await card.waitFor()
await page.goBack()
await denied.waitFor()
assert.equal(new URL(page.url()).searchParams.get('show'), 'denied')
assert.equal(await row.count(), 0)

// Elsewhere on earth the clock is another, and says so.
const far = await person({ zone: 'Asia/Kathmandu' })
await far.goto(new URL('/events', far.url()).href)
const time = far.getByRole('listitem').filter({ hasText: 'missed.txt' }).locator('.time')
assert.match(await time.getAttribute('title'), /GMT\+5:45$/)
const heard = (await ask('GET', '/api/v1/events?limit=100')).items.find((event) => JSON.stringify(event).includes('missed.txt'))
assert.equal(await time.innerText(), new Date(heard.time).toLocaleTimeString('en-GB', { timeZone: 'Asia/Kathmandu' }))

assert.equal((await ask('GET', '/api/v1/sessions')).items.length, 1)
await over()
